/** Reads JSON of unknown shape. Imports nothing at run time, so that it loads fast. */

import type { JsonObject } from "../session.ts";

/** Whether a value is an object. False for arrays and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is an object, otherwise an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the value if it is a list, otherwise an empty list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the value if it is a string, otherwise undefined. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Returns an object's own member, never an inherited one such as `constructor`. */
export function member(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Returns an object's own member if it is a string that is not empty. */
export function textIn(value: unknown, key: string): string | undefined {
  return stringOf(member(value, key)) || undefined;
}

/** Returns the parsed text, or undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the parsed text, or undefined if it is not a JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Whether a value has at most `levels` levels. `JSON.stringify` throws if a value is nested too deeply. */
export function isShallow(value: unknown, levels = 500): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

/** Returns at most `most` characters of a value as JSON, for error messages. Never throws. */
export function excerpt(value: unknown, most: number): string {
  try {
    return String(JSON.stringify(value)).slice(0, most);
  } catch {
    return "(nested too deeply to show)";
  }
}
