/** Recognises schemas that are so small and simple that they certainly compile. Pure. */

import { isList } from "./json-values.ts";

/**
 * The limits for a small schema. They are far below `schemaLimits`, because a compiled schema may be much larger than
 * the original.
 */
const most = { levels: 16, values: 400, characters: 32_768 } as const;

/** Keywords that repeat or combine schemas. With such a keyword, a small text may become a large schema. */
const multiplying: ReadonlySet<string> = new Set(
  "$ref $dynamicRef $recursiveRef allOf anyOf oneOf not if then else dependentSchemas dependencies patternProperties".split(
    " ",
  ),
);

/** Whether the schema certainly compiles. If false, Fairlead must compile the schema to find out. */
export function isPlainSchema(raw: unknown): boolean {
  return isWithin(raw, 0, { values: most.values, characters: most.characters });
}

interface Left {
  values: number;
  characters: number;
}

function isWithin(value: unknown, level: number, left: Left): boolean {
  left.values -= 1;
  if (typeof value === "string") left.characters -= value.length;
  if (left.values < 0 || left.characters < 0) return false;
  if (typeof value !== "object" || value === null)
    return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (level === most.levels) return false;
  // Uses loops instead of `every`, because this code runs for every tool of every server.
  if (isList(value)) {
    for (const item of value) if (!isWithin(item, level + 1, left)) return false;
    return true;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    left.characters -= name.length;
    if (multiplying.has(name) || !isWithin(members[name], level + 1, left)) return false;
  }
  return true;
}
