/** The valid value types of each JSON Schema keyword, and where a value contains schemas. */

import { isObject } from "@fairlead/wire/json";

/** The type of a keyword's value. */
export type KeywordShape =
  | { readonly kind: "plain"; fits(value: unknown): boolean }
  | { readonly kind: "schema" | "schemas" | "named schemas" };

const types = new Set<unknown>(["array", "boolean", "integer", "null", "number", "object", "string"]);
const isString = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isBoolean = (value: unknown): boolean => typeof value === "boolean";
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(isString);

const plain: readonly (readonly [(value: unknown) => boolean, readonly string[]])[] = [
  [isString, ["$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor", "pattern"]],
  [isNumber, ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]],
  [(value) => isNumber(value) && Number(value) > 0, ["multipleOf"]],
  [isCount, ["minLength", "maxLength", "minItems", "maxItems"]],
  [isCount, ["minProperties", "maxProperties", "minContains", "maxContains"]],
  [isBoolean, ["uniqueItems"]],
  [isNames, ["required"]],
  [(value) => Array.isArray(value) && value.length > 0, ["enum"]],
  [(value) => [value].flat().every((type) => types.has(type)), ["type"]],
  [(value) => isObject(value) && Object.values(value).every(isNames), ["dependentRequired"]],
];

/** The value type of each keyword. A map, because a schema may have a keyword `constructor`. */
export const shapes: ReadonlyMap<string, KeywordShape> = new Map<string, KeywordShape>([
  ...plain.flatMap(([fits, keywords]) => keywords.map((keyword) => [keyword, { kind: "plain", fits }] as const)),
  ...["additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"].map(
    (keyword) => [keyword, { kind: "schema" }] as const,
  ),
  ...["unevaluatedItems", "unevaluatedProperties"].map((keyword) => [keyword, { kind: "schema" }] as const),
  ...["allOf", "anyOf", "oneOf", "prefixItems"].map((keyword) => [keyword, { kind: "schemas" }] as const),
  ...["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"].map(
    (keyword) => [keyword, { kind: "named schemas" }] as const,
  ),
]);
