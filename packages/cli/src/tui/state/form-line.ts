/** Reads a typed line as the input of a form field, for plain mode (`fairlead --plain`). */

import type { Choice, FieldInput } from "@fairlead/console/form/form-field";
import { emptyEditor, insert } from "../input/editor.ts";
import type { FieldEntry } from "./form-value.ts";

type Filled = { readonly entry: FieldEntry } | { readonly problem: string };

/**
 * Returns the field's input, or why the line is not allowed. To choose, the user types the beginning of a title. Commas
 * separate several choices.
 */
export function entryFrom(input: FieldInput, line: string): Filled {
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

/**
 * Reads choices separated by commas. A title that contains a comma must be typed alone. A comma alone chooses nothing.
 */
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

/**
 * Returns the index of the choice. An exact match is better than a prefix. Returns undefined if no choice matches, or
 * if several choices with different values match.
 */
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
