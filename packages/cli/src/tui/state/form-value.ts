/** Converts the input of a form field, or a typed line, to the value that is sent, or to a problem. Pure. */

import { parseUrl } from "@fairlead/wire/text";
import { coerce, inexactNumber } from "../../arguments/coerce.ts";
import { type Editor, emptyEditor, insert, wholeText } from "../input/editor.ts";
import { type FormState, moveFocus } from "./form.ts";
import type { Choice, FieldInput, FormField, TextFormat } from "./form-field.ts";

export type FieldEntry =
  | { readonly kind: "typed"; readonly editor: Editor }
  | { readonly kind: "switched"; readonly isOn?: boolean }
  | { readonly kind: "chosen"; readonly at?: number }
  /** `isTouched`: the user has changed the selection, so an empty selection is an answer. */
  | {
      readonly kind: "several";
      readonly chosen: ReadonlySet<number>;
      readonly at: number;
      readonly isTouched: boolean;
    };

export type FieldValue =
  | { readonly kind: "value"; readonly value: unknown }
  /** The field is empty. */
  | { readonly kind: "nothing" }
  /** Completes the sentence "FIELD …". */
  | { readonly kind: "problem"; readonly problem: string };

const nothing: FieldValue = { kind: "nothing" };

export function fieldValue(field: FormField, entry: FieldEntry): FieldValue {
  const found = enteredValue(field, entry);
  // An empty field with a default counts as filled in.
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
      if (values.length < minItems) return problem(`needs at least ${minItems}`);
      return values.length > maxItems ? problem(`takes at most ${maxItems}`) : { kind: "value", value: values };
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

/** Whether the calendar has this date. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function problem(words: string): FieldValue {
  return { kind: "problem", problem: words };
}

type Filled = { readonly entry: FieldEntry } | { readonly problem: string };

/** The form at its next field, or at the same field with a problem if the line is invalid. */
export function fillIn(form: FormState, line: string): FormState {
  const { focus, fields, entries } = form;
  const field = typeof focus === "number" ? fields[focus] : undefined;
  if (typeof focus !== "number" || field === undefined) return form;
  const problems = new Map(form.problems);
  const filled = entryFrom(field.input, line);
  if ("problem" in filled) return { ...form, problems: problems.set(focus, filled.problem) };
  const found = fieldValue(field, filled.entry);
  const filledIn = { ...form, entries: entries.with(focus, filled.entry) };
  if (found.kind === "problem") return { ...filledIn, problems: problems.set(focus, found.problem) };
  problems.delete(focus);
  return moveFocus({ ...filledIn, problems }, 1);
}

function entryFrom(input: FieldInput, line: string): Filled {
  const words = line.trim();
  switch (input.kind) {
    case "text":
    case "number":
    case "json":
      return { entry: { kind: "typed", editor: insert(emptyEditor, line) } };
    case "switch": {
      const isOn = switchWords.get(words.toLowerCase());
      return isOn === undefined ? { problem: "must be yes or no" } : { entry: { kind: "switched", isOn } };
    }
    case "choice": {
      const at = findChoice(input.choices, words);
      return at === undefined ? { problem: notFound(input.choices, words) } : { entry: { kind: "chosen", at } };
    }
    case "choices":
      return severalFrom(input.choices, words);
  }
}

const switchWords: ReadonlyMap<string, boolean> = new Map([
  ["y", true],
  ["yes", true],
  ["true", true],
  ["n", false],
  ["no", false],
  ["false", false],
]);

/** Choices separated by commas; a title with a comma must be typed alone. A single comma selects none. */
function severalFrom(choices: readonly Choice[], words: string): Filled {
  const whole = findChoice(choices, words);
  const parts = words.split(",").flatMap((part) => (part.trim() === "" ? [] : part.trim()));
  const chosen = new Set<number>();
  for (const part of whole === undefined ? parts : [words]) {
    const at = findChoice(choices, part);
    if (at === undefined) return { problem: notFound(choices, part) };
    chosen.add(at);
  }
  return { entry: { kind: "several", chosen, at: 0, isTouched: true } };
}

/** An exact match wins over a prefix; an ambiguous text matches nothing. */
function findChoice(choices: readonly Choice[], words: string): number | undefined {
  const lower = words.toLowerCase();
  const ways: readonly ((choice: Choice) => boolean)[] = [
    ({ title }) => title === words,
    ({ value }) => valueWords(value) === words,
    ({ title }) => title.toLowerCase() === lower,
    ({ value }) => valueWords(value).toLowerCase() === lower,
    ({ title }) => lower !== "" && title.toLowerCase().startsWith(lower),
  ];
  for (const isMeant of ways) {
    const [first, ...others] = choices.filter(isMeant);
    if (first !== undefined && others.every((other) => isSame(other, first))) return choices.indexOf(first);
  }
  return undefined;
}

function isSame(one: Choice, other: Choice): boolean {
  return JSON.stringify(one.value) === JSON.stringify(other.value);
}

function valueWords(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Most choices listed in a problem. */
const mostNamed = 30;

function notFound(choices: readonly Choice[], words: string): string {
  const lower = words.toLowerCase();
  const alike = choices.filter(({ title }) => title.toLowerCase().startsWith(lower));
  const named = alike.length > 1 ? alike : choices;
  const names = named.slice(0, mostNamed).map(({ title }) => title);
  const rest = named.length - names.length;
  const list = [...names, ...(rest > 0 ? [`and ${rest} more`] : [])].join(", ");
  return alike.length > 1 ? `is ambiguous: ${list}` : `must be one of: ${list}`;
}
