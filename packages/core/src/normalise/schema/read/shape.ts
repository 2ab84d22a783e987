/** `Shape`: a schema in the few terms that models' APIs know. It is read from the raw schema, merged, then written. */

/** The types of JSON Schema. */
export type TypeName = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

/** A schema in the terms of a model's API. Only its reader changes it; merging creates a new one. */
export interface Shape {
  /** The shape's path in the raw schema. */
  readonly path: string;
  /** The shape's path, and the paths of all schemas that were merged into it. */
  origins: readonly string[];
  title?: string;
  description?: string;
  /** Sentences for the description, for rules that have no keyword. */
  notes: readonly string[];
  /** Undefined if the schema names no type. */
  types?: ReadonlySet<TypeName>;
  /** Types that other keywords imply; used if no type is given. */
  hints: ReadonlySet<TypeName>;
  /** OpenAPI 3.0's `nullable`. */
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
  /** Whether only the named properties are allowed. */
  isClosed?: boolean;
  anyOf?: readonly Shape[];
  /** Whether the alternatives come from merging, not from `anyOf` in the raw schema. */
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

/** The keyword of each member, and the types it applies to. */
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

/** Whether the shape has rules beside texts. */
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

export function ruleKeywords(shape: Shape): ReadonlySet<string> {
  const found = constraints.filter(({ member }) => shape[member] !== undefined).map(({ keyword }) => keyword);
  return new Set([
    ...found,
    ...(shape.types === undefined ? [] : ["type"]),
    ...(shape.required.size > 0 ? ["required"] : []),
  ]);
}

type Words = Pick<Shape, "title" | "description" | "notes" | "isNullable" | "origins">;

/** Joins the texts and origins of both shapes; of single texts, the first shape's count. */
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

/** Returns the shape without texts. */
export function withoutWords({
  title: _title,
  description: _description,
  isNullable: _isNullable,
  ...rule
}: Shape): Shape {
  return { ...rule, notes: [] };
}
