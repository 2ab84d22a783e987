/** Fills in a form field from an entered line; an invalid line sets a problem and keeps the focus. Pure. */

import { emptyEditor, insert } from "../input/editor.ts";
import { type FormState, moveFocus } from "./form.ts";
import type { Choice, FieldInput } from "./form-field.ts";
import { type FieldEntry, fieldValue } from "./form-value.ts";

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
