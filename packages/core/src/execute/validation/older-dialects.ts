/** Converts keywords of older JSON Schema dialects to those that the validator supports. */

import type { JsonObject } from "@fairlead/wire";
import type { Dialect } from "./dialect.ts";
import { shapes } from "./keyword-shapes.ts";

const sharpened = new Map([
  ["exclusiveMinimum", "minimum"],
  ["exclusiveMaximum", "maximum"],
]);
const definitions = new Set(["$ref", "$defs", "definitions", "$id", "$anchor"]);

/** Converts one schema, without its subschemas. */
export function modernised(schema: JsonObject, dialect: Dialect): JsonObject {
  const { $recursiveRef, ...node } = schema;
  if (typeof $recursiveRef === "string") return modernised({ $ref: $recursiveRef, ...node }, dialect);
  if (dialect === "draft-07" && typeof node["$ref"] === "string") return withoutSiblings(node);
  const bounded = withNumericBounds(node);
  return dialect === "2020-12" && Array.isArray(bounded["items"]) ? withPrefixItems(bounded) : bounded;
}

/** Up to draft-07, keywords beside `$ref` are ignored. */
function withoutSiblings(node: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([key]) => definitions.has(key) || !shapes.has(key)));
}

/** Draft-04: `exclusiveMinimum: true` makes the `minimum` beside it exclusive. */
function withNumericBounds(node: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => {
      const bound = sharpened.get(key);
      if (bound === undefined || typeof value !== "boolean") return [[key, value]];
      return value && node[bound] !== undefined ? [[key, node[bound]]] : [];
    }),
  );
}

/** Before 2020-12, `items` held a list of schemas, and `additionalItems` the schema of the following items. */
function withPrefixItems({ items, additionalItems, ...rest }: JsonObject): JsonObject {
  return { prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }), ...rest };
}
