/** What OpenAI's API looks for in the schema of a function. */

type Schema = Readonly<Record<string, unknown>>;

export function isObjectSchema(schema: Schema): boolean {
  return schema["type"] === "object";
}

/** The way to a list that does not say what is in it. */
export function arrayWithoutItems(schema: unknown): readonly string[] | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const { type, items, properties, anyOf } = schema as Schema;
  if (type === "array" && (typeof items !== "object" || items === null)) return [];
  return inside("properties", properties) ?? inside("anyOf", anyOf) ?? inside("items", items && { "": items });
}

function inside(keyword: string, members: unknown): readonly string[] | undefined {
  for (const [name, schema] of Object.entries(Object(members) as object)) {
    const way = arrayWithoutItems(schema);
    if (way) return [keyword, ...(name === "" ? [] : [name]), ...way];
  }
  return undefined;
}
