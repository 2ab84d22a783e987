/** Converts the user's input in a form field to the value that is sent, or to a problem. */

import { parseUrl } from "@fairlead/wire/text";
import { coerce, inexactNumber } from "../../arguments/coerce.ts";
import { type Editor, wholeText } from "../input/editor.ts";
import type { FormField, TextFormat } from "./form-field.ts";

/** What the user has entered in a field. `at`: index of the choice. */
export type FieldEntry =
  | { readonly kind: "typed"; readonly editor: Editor }
  | { readonly kind: "switched"; readonly isOn?: boolean }
  | { readonly kind: "chosen"; readonly at?: number }
  /** `isTouched`: the user has changed the selection. Then an empty selection is sent as an empty list. */
  | {
      readonly kind: "several";
      readonly chosen: ReadonlySet<number>;
      readonly at: number;
      readonly isTouched: boolean;
    };

/** The value to send. `nothing`: the field is empty and is not sent. */
export type FieldValue =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "nothing" }
  /** `problem` continues a sentence that begins with the field's name, such as `is required`. */
  | { readonly kind: "problem"; readonly problem: string };

const nothing: FieldValue = { kind: "nothing" };

/** Returns the value of a field, or the problem if the entry does not fit the schema. */
export function fieldValue(field: FormField, entry: FieldEntry): FieldValue {
  const found = enteredValue(field, entry);
  const isMissing = found.kind === "nothing" && field.isRequired && field.default === undefined;
  return isMissing ? problem("is required") : found;
}

function enteredValue({ input }: FormField, entry: FieldEntry): FieldValue {
  switch (entry.kind) {
    case "chosen": {
      const choice = input.kind === "choice" && entry.at !== undefined ? input.choices[entry.at] : undefined;
      return choice === undefined ? nothing : { kind: "value", value: choice.value };
    }
    case "several": {
      if (input.kind !== "choices" || (!entry.isTouched && entry.chosen.size === 0)) return nothing;
      const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = input;
      const values = input.choices.flatMap(({ value }, at) => (entry.chosen.has(at) ? [value] : []));
      if (values.length < minItems) return problem(`must have at least ${minItems} selected`);
      return values.length > maxItems
        ? problem(`must have at most ${maxItems} selected`)
        : { kind: "value", value: values };
    }
    case "switched":
      return entry.isOn === undefined ? nothing : { kind: "value", value: entry.isOn };
    case "typed":
      return typedValue(input, wholeText(entry.editor));
  }
}

function typedValue(input: FormField["input"], text: string): FieldValue {
  if (text === "") return nothing;
  switch (input.kind) {
    case "text": {
      const { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = input;
      const length = Array.from(text).length;
      if (length < minLength) return problem(`must have at least ${minLength} characters, not ${length}`);
      if (length > maxLength) return problem(`must have at most ${maxLength} characters, not ${length}`);
      if (format !== undefined && !isOfFormat[format](text)) return problem(`must be ${formatWords[format]}`);
      return { kind: "value", value: text };
    }
    case "number":
      return numberValue(input, text.trim());
    case "json": {
      const read = coerce(text, input.schema, input.root);
      return read.kind === "value" ? read : problem(read.reason);
    }
    case "switch":
    case "choice":
    case "choices":
      return nothing;
  }
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

function numberValue(
  { isInteger, minimum, maximum }: Extract<FormField["input"], { readonly kind: "number" }>,
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

function problem(words: string): FieldValue {
  return { kind: "problem", problem: words };
}
