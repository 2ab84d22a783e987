/** What a table about one property is made of. */

export type Row = readonly [what: string, raw: unknown, schema: unknown, repairs: readonly string[]];

export const same = (what: string, schema: unknown): Row => [what, schema, schema, []];
export const string = { type: "string" };
export const number = { type: "number" };
export const described = (description: string, schema: Record<string, unknown> = string): Record<string, unknown> => ({
  ...schema,
  description,
});
