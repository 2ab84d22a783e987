/** Checks the types of keyword values, and writes values as short texts. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";

/** Always true, for keywords that accept any value. */
export function isPresent(_value: unknown): _value is unknown {
  return true;
}

/** Whether the value is a string, even an empty one. */
export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** Whether the value is a non-negative whole number. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export function isFlag(value: unknown): value is boolean {
  return typeof value === "boolean";
}

/** Whether the value is an array, even an empty one. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Whether the value can be a schema: an object or a boolean. Does not look inside. */
export function isSchema(value: unknown): value is JsonObject | boolean {
  return isObject(value) || isFlag(value);
}

/** Whether the value is a non-empty array. */
export function isFilled(value: unknown): value is readonly unknown[] {
  return isList(value) && value.length > 0;
}

/** Whether a schema accepts any value. */
export function isOpen(value: unknown): boolean {
  return value === true || (isObject(value) && Object.keys(value).length === 0);
}

/** Writes a value as short JSON. */
export function quote(value: unknown): string {
  return clip(value === undefined ? "nothing" : JSON.stringify(value), 120);
}

/** Joins items: "a", "a and b", "a, b and c". `word` stands before the last item. */
export function enumerate(items: readonly string[], word: "and" | "or" = "and"): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1)}`;
}
