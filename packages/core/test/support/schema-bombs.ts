/** Schemas and values that ask for more work than they look. */

import type { JsonObject } from "@fairlead/wire";

/** 2 to the power of `levels` evaluations of a type, in a few kilobytes. */
export function doubling(levels: number): JsonObject {
  const at = (level: number): JsonObject => ({ $ref: `#/$defs/level${level}` });
  const definitions = Array.from({ length: levels }, (_, level) => [
    `level${level}`,
    { allOf: [at(level + 1), at(level + 1)] },
  ]);
  return { ...at(0), $defs: Object.fromEntries([...definitions, [`level${levels}`, { type: "string" }]]) };
}

/** Unions of unions that all fail: every form is tried in every form. */
export function unions(depth: number, forms: number): JsonObject {
  const at = (level: number): JsonObject => ({ $ref: `#/$defs/level${level}` });
  const union = (level: number): JsonObject => ({
    anyOf: Array.from({ length: forms }, (_, form) => ({ allOf: [at(level + 1), { const: form }] })),
  });
  const definitions = Array.from({ length: depth }, (_, level) => [`level${level}`, union(level)]);
  return { ...at(0), $defs: Object.fromEntries([...definitions, [`level${depth}`, { not: { type: "null" } }]]) };
}

/** Every level of the value is looked at twice, and so is every level in it. */
export const twiceRecursive: JsonObject = {
  type: "array",
  allOf: [{ items: { $ref: "#" } }, { items: { $ref: "#" } }],
};

export function nested(depth: number): unknown {
  return JSON.parse("[".repeat(depth) + "]".repeat(depth));
}
