/** What a schema asks for, in the few terms that a model's API knows; read from the raw schema, merged, then written out. */

export type TypeName = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

/** Built by its reader; whoever merges makes a new one. */
export interface Shape {
  /** Where in the raw schema it comes from. */
  readonly path: string;
  /** There, and wherever else something was merged in from. */
  origins: readonly string[];
  title?: string;
  description?: string;
  /** Sentences for the description: what could not be said in keywords. */
  notes: readonly string[];
  /** Undefined: nothing was said about it. */
  types?: ReadonlySet<TypeName>;
  /** Types that other keywords speak of; they count where no type is given. */
  hints: ReadonlySet<TypeName>;
  /** OpenAPI 3.0's way to allow null. */
  isNullable?: boolean;
  strings?: readonly string[];
  numbers?: readonly number[];
  format?: string;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Shape;
  prefix?: readonly Shape[];
  properties: ReadonlyMap<string, Shape>;
  required: ReadonlySet<string>;
  /** No properties but those that are named. */
  isClosed?: boolean;
  anyOf?: readonly Shape[];
  /** The alternatives come from merging, not from an `anyOf` of the raw schema. */
  isMade?: boolean;
}

const none = {
  notes: [],
  hints: new Set<TypeName>(),
  properties: new Map<string, Shape>(),
  required: new Set<string>(),
};

export function emptyShape(path: string): Shape {
  return { path, origins: [path], ...none };
}

/** The keyword that each member comes from, and the types it is about. */
export const constraints: readonly {
  readonly member:
    | "strings"
    | "numbers"
    | "format"
    | "minimum"
    | "maximum"
    | "minItems"
    | "maxItems"
    | "items"
    | "prefix";
  readonly keyword: string;
  readonly types: readonly TypeName[];
}[] = [
  { member: "strings", keyword: "enum", types: ["string"] },
  { member: "numbers", keyword: "enum", types: ["number", "integer"] },
  { member: "format", keyword: "format", types: ["string", "number", "integer"] },
  { member: "minimum", keyword: "minimum", types: ["number", "integer"] },
  { member: "maximum", keyword: "maximum", types: ["number", "integer"] },
  { member: "minItems", keyword: "minItems", types: ["array"] },
  { member: "maxItems", keyword: "maxItems", types: ["array"] },
  { member: "items", keyword: "items", types: ["array"] },
  { member: "prefix", keyword: "prefixItems", types: ["array"] },
];

/** Whether it asks for anything beyond what it says in words. */
export function isConstrained(shape: Shape): boolean {
  return (
    shape.types !== undefined ||
    shape.anyOf !== undefined ||
    shape.hints.size > 0 ||
    shape.properties.size > 0 ||
    shape.required.size > 0 ||
    constraints.some(({ member }) => shape[member] !== undefined)
  );
}

/** The keywords of its rules, for a report. */
export function ruleKeywords(shape: Shape): ReadonlySet<string> {
  const found = constraints.filter(({ member }) => shape[member] !== undefined).map(({ keyword }) => keyword);
  return new Set([
    ...found,
    ...(shape.types === undefined ? [] : ["type"]),
    ...(shape.required.size > 0 ? ["required"] : []),
  ]);
}

type Words = Pick<Shape, "title" | "description" | "notes" | "isNullable" | "origins">;

/** What both say in words, and where it comes from; of what can be said once, the first one's. */
export function annotated(a: Shape, b: Shape): Words {
  const title = a.title ?? b.title;
  const description = a.description ?? b.description;
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...((a.isNullable === true || b.isNullable === true) && { isNullable: true }),
    notes: [...new Set([...a.notes, ...b.notes])],
    origins: [...new Set([...a.origins, ...b.origins])],
  };
}

export function withoutWords({
  title: _title,
  description: _description,
  isNullable: _isNullable,
  ...rule
}: Shape): Shape {
  return { ...rule, notes: [] };
}
