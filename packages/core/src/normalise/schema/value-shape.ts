/** Reads from a JSON Schema which types, enum values and list items a value may have. Pure functions. */

import { isShallow, listOf, member } from "@fairlead/wire/json";
import { resolved } from "./pointer.ts";

const jsonTypes = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;
/** The name of a type in JSON Schema. */
export type JsonType = (typeof jsonTypes)[number];

/** What one alternative of a schema allows. */
export interface ValueShape {
  readonly types: ReadonlySet<JsonType>;
  /** The only allowed values (from `enum` or `const`). */
  readonly values?: readonly unknown[];
  /** For a list, the schema of its items. */
  readonly items: unknown;
}

/** Limits on the depth and on the number of visited schemas, because a server can send a schema of any size. */
const deepest = 8;
const most = 200;

/**
 * Returns what each alternative (`anyOf`, `oneOf`) of a schema allows. Returns an empty list if any type is allowed.
 */
export function shapesOf(schema: unknown, root: unknown): readonly ValueShape[] {
  const shapes: ValueShape[] = [];
  let visited = 0;

  /** Collects the alternatives of a schema. Returns false if the schema does not restrict the type. */
  function gather(given: unknown, depth: number): boolean {
    visited += 1;
    if (depth > deepest || visited > most) return false;
    const here = resolved(given, root);
    const alternatives = [...listOf(member(here, "anyOf")), ...listOf(member(here, "oneOf"))];
    const own = shapeOf(here);
    if (own !== undefined) return shapes.push(own) > 0;
    if (alternatives.length > 0) return alternatives.every((one) => gather(one, depth + 1));
    // A value must match every schema in `allOf`, so the type is restricted if one of these schemas restricts it.
    return listOf(member(here, "allOf")).some((one) => gather(one, depth + 1));
  }

  return gather(schema, 0) ? shapes : [];
}

function shapeOf(schema: unknown): ValueShape | undefined {
  const [type, choices, only] = ["type", "enum", "const"].map((keyword) => member(schema, keyword));
  const values = only === undefined ? listOf(choices) : [only];
  const named = [type].flat().filter(isJsonType);
  const types = new Set(named.length > 0 ? named : values.map(typeOf));
  if (types.size === 0) return undefined;
  if (member(schema, "nullable") === true) types.add("null");
  return { types, values: values.length > 0 ? values : undefined, items: member(schema, "items") };
}

/** Whether a value fits the types, or the enum values, of one alternative. */
export function takes({ types, values }: ValueShape, value: unknown): boolean {
  if (values !== undefined) return values.some((one) => isSame(one, value)) || (value === null && types.has("null"));
  return types.has(typeOf(value)) || (types.has("integer") && Number.isInteger(value));
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === "object" && isShallow(one) && JSON.stringify(one) === JSON.stringify(other));
}

function isJsonType(type: unknown): type is JsonType {
  return jsonTypes.some((jsonType) => jsonType === type);
}

function typeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return typeof value as JsonType;
  return "object";
}
