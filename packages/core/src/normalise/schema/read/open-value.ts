/** Any value, or null as well, said in types: what the API gets where a schema says nothing, or says it in a word. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";

const plain: readonly string[] = ["string", "number", "boolean", "object"];

/** Alternatives without null: who would give that gives nothing. */
export function anyValue(): JsonObject[] {
  return [...plainValues(), { type: "array", items: anyItem() }];
}

/** What may stand in an array: everything but another array, for that would never end. */
export function anyItem(words: JsonObject = {}): JsonObject {
  return { ...words, anyOf: plainValues() };
}

function plainValues(): JsonObject[] {
  return plain.map((type) => ({ type }));
}

/** Null as one of several alternatives. */
export function isNull(schema: unknown): boolean {
  return isObject(schema) && schema["type"] === "null" && Object.keys(schema).length === 1;
}

/** Alternatives as they are written here, with null or without. */
export function isAnything(alternatives: readonly unknown[]): boolean {
  return sparedFor(alternatives.filter((each) => !isNull(each))) > 0;
}

/** How many of the schemas in these alternatives count for nothing, as one word could say them: `true`, `nullable`. */
export function spared(alternatives: readonly unknown[]): number {
  const others = alternatives.filter((each) => !isNull(each));
  // Null, and the schema around.
  return sparedFor(others) + (others.length < alternatives.length ? 2 : 0);
}

function sparedFor(alternatives: readonly unknown[]): number {
  if (alternatives.length < plain.length || alternatives.length > plain.length + 1) return 0;
  const text = JSON.stringify(alternatives);
  if (text === anyText) return 2 * plain.length + 2;
  return text === plainText ? plain.length : 0;
}

const plainText = JSON.stringify(plainValues());
const anyText = JSON.stringify(anyValue());
