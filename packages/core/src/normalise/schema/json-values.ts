/** What a keyword's value may be, asked once per keyword; and short texts of values for descriptions. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";

export function isPresent(_value: unknown): _value is unknown {
  return true;
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** A length or a number of things. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export function isFlag(value: unknown): value is boolean {
  return typeof value === "boolean";
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function isSchema(value: unknown): value is JsonObject | boolean {
  return isObject(value) || isFlag(value);
}

export function isFilled(value: unknown): value is readonly unknown[] {
  return isList(value) && value.length > 0;
}

/** A schema that says nothing: any value fits. */
export function isOpen(value: unknown): boolean {
  return value === true || (isObject(value) && Object.keys(value).length === 0);
}

/** A value as JSON, short. */
export function quote(value: unknown): string {
  return clip(value === undefined ? "nothing" : JSON.stringify(value), 120);
}

/** "a", "a and b", "a, b and c". */
export function enumerate(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
