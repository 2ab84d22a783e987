/** Knows which keywords contain schemas, and in what form. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { isList, isSchema } from "./json-values.ts";
import { pointerTo } from "./pointer.ts";

/** Keywords with one schema. `items` of older drafts may also be a list. */
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

/** What a keyword's value contains. */
export type Holds = "schema" | "list" | "map" | "data";

/** Returns what this keyword contains with this value. */
export function holds(keyword: string, value: unknown): Holds {
  if (listed.has(keyword) && isList(value)) return "list";
  if (named.has(keyword) && isObject(value)) return "map";
  return single.has(keyword) && isSchema(value) ? "schema" : "data";
}

/** Returns the direct subschemas with their paths. */
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

/** Returns the direct subschemas without paths, which is much faster. */
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
