/** Words of older and neighbouring dialects, said in those that the validator knows. */

import type { JsonObject } from "@fairlead/wire";
import type { Dialect } from "./dialect.ts";
import { shapes } from "./keyword-shapes.ts";

const sharpened = new Map([
  ["exclusiveMinimum", "minimum"],
  ["exclusiveMaximum", "maximum"],
]);
const definitions = new Set(["$ref", "$defs", "definitions", "$id", "$anchor"]);

/** One schema, not those inside it. */
export function modernised(schema: JsonObject, dialect: Dialect): JsonObject {
  const { $recursiveRef, ...node } = schema;
  if (typeof $recursiveRef === "string") return modernised({ $ref: $recursiveRef, ...node }, dialect);
  if (dialect === "draft-07" && typeof node["$ref"] === "string") return withoutSiblings(node);
  const bounded = withNumericBounds(node);
  return dialect === "2020-12" && Array.isArray(bounded["items"]) ? withPrefixItems(bounded) : bounded;
}

/** Up to draft-07 a reference stands alone: what is written beside it does not count. */
function withoutSiblings(node: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(node).filter(([key]) => definitions.has(key) || !shapes.has(key)));
}

/** Draft-04: `exclusiveMinimum: true` sharpens the `minimum` beside it. */
function withNumericBounds(node: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => {
      const bound = sharpened.get(key);
      if (bound === undefined || typeof value !== "boolean") return [[key, value]];
      return value && node[bound] !== undefined ? [[key, node[bound]]] : [];
    }),
  );
}

/** Before 2020-12 a list of schemas stood in `items`, and what follows them in `additionalItems`. */
function withPrefixItems({ items, additionalItems, ...rest }: JsonObject): JsonObject {
  return { prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }), ...rest };
}
