/** Which keywords hold schemas, and how: the one place that says where in a schema another one stands. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { isList, isSchema } from "./json-values.ts";
import { pointerTo } from "./pointer.ts";

/** One schema; `items` of older drafts may also be a list of them. */
const single: ReadonlySet<string> = new Set([
  "items",
  "additionalItems",
  "unevaluatedItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "contentSchema",
]);
const named: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  "$defs",
  "definitions",
]);
const listed: ReadonlySet<string> = new Set(["items", "prefixItems", "allOf", "anyOf", "oneOf"]);

export type Holds = "schema" | "list" | "map" | "data";

/** What this keyword, with this value, holds. */
export function holds(keyword: string, value: unknown): Holds {
  if (listed.has(keyword) && isList(value)) return "list";
  if (named.has(keyword) && isObject(value)) return "map";
  return single.has(keyword) && isSchema(value) ? "schema" : "data";
}

/** The schemas directly in this one, with their paths. */
export function subschemas(schema: JsonObject, path: string): (readonly [schema: unknown, path: string])[] {
  const found: (readonly [unknown, string])[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const held = holds(keyword, value);
    if (held === "schema") found.push([value, pointerTo(path, keyword)]);
    if (held !== "list" && held !== "map") continue;
    for (const [name, member] of Object.entries(Object(value))) found.push([member, pointerTo(path, keyword, name)]);
  }
  return found;
}

/** The same without the paths, which cost more than the rest. */
export function schemasIn(schema: JsonObject): unknown[] {
  const found: unknown[] = [];
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    const held = holds(keyword, value);
    if (held === "schema") found.push(value);
    else if (held !== "data") found.push(...Object.values(Object(value)));
  }
  return found;
}
