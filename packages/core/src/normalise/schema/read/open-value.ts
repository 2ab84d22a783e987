/** Writes "any value" as a list of types, for APIs that require a type in every schema. */

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

/** The schema for any item of an array. An item cannot be an array itself, because the nesting would never end. */
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

/** The number of schemas that Fairlead itself added to these alternatives. They do not count towards the limits. */
export function spared(alternatives: readonly unknown[]): number {
  const others = alternatives.filter((each) => !isNull(each));
  // For null, Fairlead added two schemas: the alternative for null, and the schema around all alternatives.
  return sparedFor(others) + (others.length < alternatives.length ? 2 : 0);
}

function sparedFor(alternatives: readonly unknown[]): number {
  if (alternatives.length < plain.length || alternatives.length > plain.length + 1) return 0;
  const text = JSON.stringify(alternatives);
  if (text === JSON.stringify(anyValue())) return 2 * plain.length + 2;
  return text === JSON.stringify(plainValues()) ? plain.length : 0;
}
