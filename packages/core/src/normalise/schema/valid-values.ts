/** The valid values of keywords of draft 2020-12. A keyword that is not listed takes any value. */

import { isObject } from "@fairlead/wire/json";
import { isCount, isFilled, isFlag, isList, isNumber, isPresent, isSchema, isText } from "./json-values.ts";

type Check = (value: unknown) => boolean;

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

/** Whether the value is valid for the keyword. */
export function fits(keyword: string, value: unknown): boolean {
  return (checks.get(keyword) ?? isPresent)(value);
}
