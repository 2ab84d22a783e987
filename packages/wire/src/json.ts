/** Looking into JSON that nobody has vouched for. */

import type { JsonObject } from "./session.ts";

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The beginning of what somebody else wrote, short enough for a message. */
export function clip(text: string, most = 1000): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** The beginning of a value as JSON, as evidence; it may be nested deeper than can be written. */
export function excerpt(value: unknown, most: number): string {
  try {
    return String(JSON.stringify(value)).slice(0, most);
  } catch {
    return "nested too deeply to be shown";
  }
}

/** The value if it is a string, else nothing. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
