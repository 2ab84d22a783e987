/** Reads what a person has typed into a field for text or a number. Pure. */

import { inexactNumber } from "@fairlead/core/plain-text";
import { parseUrl } from "@fairlead/wire/text";
import type { FieldInput, TextFormat } from "./form-field.ts";

/** The value to send. `nothing`: the field is empty and is not sent. */
export type FieldValue =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "nothing" }
  /** `problem` continues a sentence that begins with the field's name, such as `is required`. */
  | { readonly kind: "problem"; readonly problem: string };

/** Returns the typed text as the value of a text field. */
export function textValue(
  { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Extract<FieldInput, { readonly kind: "text" }>,
  text: string,
): FieldValue {
  const length = Array.from(text).length;
  if (length < minLength) return problem(`must have at least ${minLength} characters, not ${length}`);
  if (length > maxLength) return problem(`must have at most ${maxLength} characters, not ${length}`);
  if (format !== undefined && !isOfFormat[format](text)) return problem(`must be ${formatWords[format]}`);
  return { kind: "value", value: text };
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Returns the typed text as the value of a number field. */
export function numberValue(
  { isInteger, minimum, maximum }: Extract<FieldInput, { readonly kind: "number" }>,
  text: string,
): FieldValue {
  const value = Number(text);
  if (!decimal.test(text) || (isInteger && !Number.isInteger(value)))
    return problem(isInteger ? "must be a whole number" : "must be a number");
  if (inexactNumber(text) !== undefined) return problem("is a number that cannot be sent exactly");
  if (minimum !== undefined && value < minimum) return problem(`must be ${minimum} or more`);
  if (maximum !== undefined && value > maximum) return problem(`must be ${maximum} or less`);
  return { kind: "value", value };
}

/** What a field with this format needs, in words, such as `a date, like 2026-11-30`. */
export const formatWords: Readonly<Record<TextFormat, string>> = {
  email: "an email address, like name@example.org",
  uri: "an address, like https://example.org/page",
  date: "a date, like 2026-11-30",
  "date-time": "a date and a time, like 2026-11-30T18:05:00Z",
};

const isOfFormat: Readonly<Record<TextFormat, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => /^[a-z][a-z\d+.-]*:/i.test(text) && parseUrl(text) !== undefined,
  date: isDate,
  "date-time": (text) => {
    const [, day = "", hours, minutes, seconds] =
      /^(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.exec(text) ?? [];
    return isDate(day) && Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) <= 60;
  },
};

/** Whether the text is a date that exists. `2026-02-30` does not. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

export function problem(words: string): FieldValue {
  return { kind: "problem", problem: words };
}
