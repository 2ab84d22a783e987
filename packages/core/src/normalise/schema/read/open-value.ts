/** Expresses "any value" by a list of types, for APIs that require a type in every schema. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";

const plain: readonly string[] = ["string", "number", "boolean", "object"];

/**
 * The alternatives that together accept any value except null. A model can leave the property out instead of sending
 * null.
 */
export function anyValue(): JsonObject[] {
  return [...plainValues(), { type: "array", items: anyItem() }];
}

/** The schema for any item of an array. Does not accept an array as item, because such a schema would have no end. */
export function anyItem(words: JsonObject = {}): JsonObject {
  return { ...words, anyOf: plainValues() };
}

function plainValues(): JsonObject[] {
  return plain.map((type) => ({ type }));
}

/** Whether the schema accepts only null and has no other keyword. */
export function isNull(schema: unknown): boolean {
  return isObject(schema) && schema["type"] === "null" && Object.keys(schema).length === 1;
}

/** Whether these alternatives stand for "any value", with or without null. */
export function isAnything(alternatives: readonly unknown[]): boolean {
  return sparedFor(alternatives.filter((each) => !isNull(each))) > 0;
}

/** How many schemas Fairlead itself added to these alternatives. Such schemas do not count towards the limits. */
export function spared(alternatives: readonly unknown[]): number {
  const others = alternatives.filter((each) => !isNull(each));
  // For null, Fairlead wrote two more schemas: the alternative for null, and the schema that contains all alternatives.
  return sparedFor(others) + (others.length < alternatives.length ? 2 : 0);
}

function sparedFor(alternatives: readonly unknown[]): number {
  if (alternatives.length < plain.length || alternatives.length > plain.length + 1) return 0;
  const text = JSON.stringify(alternatives);
  if (text === JSON.stringify(anyValue())) return 2 * plain.length + 2;
  return text === JSON.stringify(plainValues()) ? plain.length : 0;
}
