/** Which keywords contain schemas, and which values are valid for the keywords of draft 2020-12. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { isCount, isFilled, isFlag, isList, isNumber, isPresent, isSchema, isText } from "./json-values.ts";
import { pointerTo } from "./pointer.ts";

/** Keywords whose value is one schema. In older drafts, the value of `items` may also be a list of schemas. */
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

/** The kind of a keyword's value: one schema, a list of schemas, an object whose members are schemas, or no schema. */
export type Holds = "schema" | "list" | "map" | "data";

/** Returns the kind of this keyword's value. `data` if the value does not fit the keyword. */
export function holds(keyword: string, value: unknown): Holds {
  if (listed.has(keyword) && isList(value)) return "list";
  if (named.has(keyword) && isObject(value)) return "map";
  return single.has(keyword) && isSchema(value) ? "schema" : "data";
}

/** Whether the keyword's value is a schema, or contains schemas. */
export function holdsSchemas(keyword: string): boolean {
  return single.has(keyword) || named.has(keyword) || listed.has(keyword);
}

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

type Check = (value: unknown) => boolean;

/**
 * The values that each keyword accepts in draft 2020-12 or an older draft. A keyword that is not in this table accepts
 * any value.
 */
const table: readonly (readonly [check: Check, ...keywords: readonly string[]])[] = [
  [isText, "$schema", "$id", "$anchor", "$dynamicAnchor", "$ref", "$dynamicRef", "$recursiveRef", "$comment"],
  [isText, "title", "description", "format", "pattern", "contentEncoding", "contentMediaType"],
  [isNumber, "minimum", "maximum", "multipleOf"],
  [
    isCount,
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
  ],
  [isFlag, "uniqueItems", "deprecated", "readOnly", "writeOnly"],
  [isList, "examples"],
  [isFilled, "enum", "allOf", "anyOf", "oneOf", "prefixItems"],
  [
    isObject,
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "$defs",
    "definitions",
  ],
  [isSchema, "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems", "propertyNames"],
  [isSchema, "contains", "not", "if", "then", "else", "contentSchema"],
  [(value) => isList(value) || isSchema(value), "items"],
  [(value) => isNumber(value) || isFlag(value), "exclusiveMinimum", "exclusiveMaximum"],
  [(value) => isText(value) || isFilled(value), "type"],
  [(value) => isList(value) && value.every(isText) && new Set(value).size === value.length, "required"],
];

const checks: ReadonlyMap<string, Check> = new Map(
  table.flatMap(([check, ...keywords]) => keywords.map((keyword) => [keyword, check] as const)),
);

/** Whether draft 2020-12 or an older draft allows this value. True for unknown keywords. */
export function fits(keyword: string, value: unknown): boolean {
  return (checks.get(keyword) ?? isPresent)(value);
}
