/**
 * `Shape`: a schema reduced to the rules that models' APIs support. Fairlead reads the server's schema into a shape,
 * and writes the model's schema from it.
 */

import { lastStep } from "../pointer.ts";
import type { Report } from "../schema-node.ts";

/** The types of JSON Schema. */
export type TypeName = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

/**
 * The rules of a schema, as far as a model's API supports them. Only the code that reads a schema changes a shape.
 * Merging creates a new shape.
 */
export interface Shape {
  /** The path of the schema that the shape was read from. */
  readonly path: string;
  /** The paths of all schemas that were merged into the shape, including its own path. */
  origins: readonly string[];
  title?: string;
  description?: string;
  /** Sentences for the description. They express rules for which the API has no keyword. */
  notes: readonly string[];
  /** The allowed types. Undefined if the schema names no type. */
  types?: ReadonlySet<TypeName>;
  /** Types that other keywords imply. They are used if the schema names no type. */
  hints: ReadonlySet<TypeName>;
  /** Whether OpenAPI 3.0's `nullable` is set. */
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
  /** True if merging created `anyOf`. False if the server's schema contains `anyOf`. */
  isMade?: boolean;
}

const none = {
  notes: [],
  hints: new Set<TypeName>(),
  properties: new Map<string, Shape>(),
  required: new Set<string>(),
};

/** A `Shape` without rules, which accepts any value. */
export function emptyShape(path: string): Shape {
  return { path, origins: [path], ...none };
}

/** The members of a shape that stand for a keyword of certain types: the keyword, and these types. */
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

/** Whether the shape has rules, and not only a title or a description. */
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

/** The JSON Schema keywords that stand for the rules of a shape, without `properties` and `anyOf`. */
export function ruleKeywords(shape: Shape): ReadonlySet<string> {
  const found = constraints.filter(({ member }) => shape[member] !== undefined).map(({ keyword }) => keyword);
  return new Set([
    ...found,
    ...(shape.types === undefined ? [] : ["type"]),
    ...(shape.required.size > 0 ? ["required"] : []),
  ]);
}

type Words = Pick<Shape, "title" | "description" | "notes" | "isNullable" | "origins">;

/**
 * Combines the titles, descriptions, notes and paths of two shapes. A title or description of the first shape takes
 * precedence.
 */
export function annotated(a: Shape, b: Shape): Words {
  const title = a.title ?? b.title;
  const description = a.description ?? b.description;
  return {
    title,
    description,
    isNullable: a.isNullable === true || b.isNullable === true,
    notes: [...new Set([...a.notes, ...b.notes])],
    origins: [...new Set([...a.origins, ...b.origins])],
  };
}

/** Returns the shape without title, description and notes. */
export function withoutWords({
  title: _title,
  description: _description,
  isNullable: _isNullable,
  ...rule
}: Shape): Shape {
  return { ...rule, notes: [] };
}

/** Reports a schema that was merged into another one. */
export function reportMerged({ path }: Shape, report: Report): void {
  report(...lastStep(path), "merged", "This schema is merged with another schema for the same value.");
}

/** Reports shapes that were left out. Reports a path for each schema that had been merged into them. */
export function reportDropped(shapes: Iterable<Shape>, note: string, report: Report): void {
  const seen = new Set<Shape>();
  const open = Array.from(shapes, (shape) => ({ shape, above: [] as readonly string[] }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { shape, above } = next;
    if (seen.has(shape)) continue;
    seen.add(shape);
    // Reports only the outermost schema that was left out, not the schemas inside it. The root is never left out.
    const elsewhere = shape.origins.filter(
      (path) => path !== "" && !above.some((outer) => path.startsWith(`${outer}/`)),
    );
    for (const path of elsewhere) report(...lastStep(path), "removed", note);
    const origins = [...above, ...elsewhere];
    open.push(...inside(shape).map((inner) => ({ shape: inner, above: origins })));
  }
}

function inside(shape: Shape): readonly Shape[] {
  return [...itemsOf(shape), ...shape.properties.values(), ...(shape.anyOf ?? [])];
}

/** The schemas of a list's items: those of `prefixItems`, then that of `items`. */
export function itemsOf({ items, prefix = [] }: Shape): readonly Shape[] {
  return items === undefined ? prefix : [...prefix, items];
}
