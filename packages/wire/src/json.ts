/** Looking into JSON that nobody has vouched for. */

import type { JsonObject } from "./session.ts";

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value if it is a string, else nothing. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
