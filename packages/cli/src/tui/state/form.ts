/** The state of a form (fields, input, focus), and what keys do in it. */

import { type FieldInput, type FormField, fieldsOf } from "@fairlead/console/form/form-field";
import { allPropertiesOf } from "@fairlead/core/normalise";
import type { ElicitationAnswer } from "@fairlead/core/server";
import type { JsonObject } from "@fairlead/wire";
import { isShallow, member } from "@fairlead/wire/json";
import { editLine } from "../input/edit-key.ts";
import { emptyEditor, insert } from "../input/editor.ts";
import { type Key, letterOf } from "../input/keys.ts";
import { type FieldEntry, fieldValue } from "./form-value.ts";
import type { KeyStep } from "./questions.ts";

/** A form with the user's input. All lists have one entry for each field. */
export interface FormState {
  readonly fields: readonly FormField[];
  /** Number of parameters without a field, because the schema has more than `mostFields`. */
  readonly leftOut: number;
  /** The input of each field, in the order of `fields`. */
  readonly entries: readonly FieldEntry[];
  /** The index of the focused field, or the focused button below the fields. */
  readonly focus: number | "send" | "decline";
  /** The problems that stopped the user from sending the form, by the index of the field. */
  readonly problems: ReadonlyMap<number, string>;
  /** How many rows the user has scrolled down from the focused field. Negative: up. */
  readonly look: number;
}

/** The values to send, or the problems by the index of the field. */
export type FormValues =
  | { readonly kind: "values"; readonly values: JsonObject }
  | { readonly kind: "problems"; readonly problems: ReadonlyMap<number, string> };

/** Creates a form for a JSON Schema. `values` take precedence over the schema's defaults, if `usesDefaults` is true. */
export function openForm(schema: unknown, values: JsonObject = {}, usesDefaults = true): FormState {
  const fields = fieldsOf(schema);
  return {
    fields,
    leftOut: allPropertiesOf(schema).length - fields.length,
    entries: fields.map(({ name, input, default: given }) =>
      entryOf(input, member(values, name) ?? (usesDefaults ? given : undefined)),
    ),
    // In a form without fields, Enter must not accept by accident.
    focus: fields.length === 0 ? "decline" : 0,
    problems: new Map(),
    look: 0,
  };
}

function entryOf(input: FieldInput, value: unknown): FieldEntry {
  switch (input.kind) {
    case "switch":
      return { kind: "switched", isOn: typeof value === "boolean" ? value : undefined };
    case "choice": {
      const at = placeOf(input.choices, value);
      return { kind: "chosen", at: at === -1 ? undefined : at };
    }
    case "choices": {
      const positions = (Array.isArray(value) ? value : []).map((one) => placeOf(input.choices, one));
      return { kind: "several", chosen: new Set(positions.filter((at) => at !== -1)), at: 0, isTouched: false };
    }
    case "text":
    case "number":
    case "json":
      return { kind: "typed", editor: insert(emptyEditor, wordsOf(value)) };
  }
}

function placeOf(choices: readonly { readonly value: unknown }[], value: unknown): number {
  return value === undefined
    ? -1
    : choices.findIndex((choice) => JSON.stringify(choice.value) === JSON.stringify(value));
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || !isShallow(value) ? "" : JSON.stringify(value);
}

/** Returns the values of all fields that are not empty, or the problems if a field is invalid. */
export function formValues({ fields, entries }: FormState): FormValues {
  const problems = new Map<number, string>();
  const values: [string, unknown][] = [];
  for (const [at, field] of fields.entries()) {
    const entry = entries[at];
    if (entry === undefined) continue;
    const found = fieldValue(field, entry);
    if (found.kind === "problem") problems.set(at, found.problem);
    if (found.kind === "value") values.push([field.name, found.value]);
  }
  // A field may be called `__proto__`. `Object.fromEntries` creates a normal property, while an assignment would set
  // the prototype.
  return problems.size > 0 ? { kind: "problems", problems } : { kind: "values", values: Object.fromEntries(values) };
}

const pageRows = 5;

/** Returns the form after a key press, or the user's answer if the key ends the form. */
export function formKey(form: FormState, key: Key): KeyStep<FormState, "form"> {
  if (key.name === "pageup" || key.name === "pagedown")
    return { state: { ...form, look: form.look + (key.name === "pageup" ? -pageRows : pageRows) } };
  const seen = { ...form, look: 0 };
  if (key.name === "escape") return { answer: { action: "cancel" } };
  const choosing = chooseKey(seen, key);
  if (choosing !== undefined) return { state: choosing };
  if (key.name === "up" || (key.name === "tab" && key.shift === true)) return { state: moveFocus(seen, -1) };
  if (key.name === "down" || key.name === "tab") return { state: moveFocus(seen, 1) };
  if (key.name === "enter") return enter(seen);
  const { focus } = seen;
  if (typeof focus !== "number") return { state: onButton(seen, key) };
  const [field, entry] = [seen.fields[focus], seen.entries[focus]];
  if (field === undefined || entry === undefined) return { state: seen };
  const problems = new Map(seen.problems);
  problems.delete(focus);
  return { state: { ...seen, entries: seen.entries.with(focus, enterInto(field.input, entry, key)), problems } };
}

/** In a list of choices, the arrow keys move between the choices and never leave the field. */
function chooseKey(form: FormState, { name }: Key): FormState | undefined {
  const { focus, fields, entries } = form;
  if (typeof focus !== "number" || (name !== "up" && name !== "down")) return undefined;
  const [input, entry] = [fields[focus]?.input, entries[focus]];
  if (entry === undefined || (input?.kind !== "choice" && input?.kind !== "choices")) return undefined;
  if (entry.kind !== "chosen" && entry.kind !== "several") return undefined;
  const last = input.choices.length - 1;
  const from = entry.at ?? (name === "down" ? -1 : last + 1);
  const at = Math.max(0, Math.min(last, from + (name === "down" ? 1 : -1)));
  const problems = new Map(form.problems);
  problems.delete(focus);
  return { ...form, entries: entries.with(focus, { ...entry, at }), problems };
}

function focusOrder({ fields }: FormState): readonly FormState["focus"][] {
  return [...fields.keys(), "send", "decline"];
}

/** Moves the focus to the next or previous field or button. After the last one, the first one follows. */
export function moveFocus(form: FormState, by: 1 | -1): FormState {
  const all = focusOrder(form);
  const at = all.indexOf(form.focus) + by;
  return { ...form, focus: all[(at + all.length) % all.length] ?? "decline" };
}

function onButton(form: FormState, key: Key): FormState {
  return key.name === "left" || key.name === "right"
    ? { ...form, focus: form.focus === "send" ? "decline" : "send" }
    : form;
}

function enter(form: FormState): { readonly state: FormState } | { readonly answer: ElicitationAnswer } {
  if (form.focus === "decline") return { answer: { action: "decline" } };
  if (form.focus !== "send") return { state: moveFocus(form, 1) };
  const found = formValues(form);
  if (found.kind === "values") return { answer: { action: "accept", content: found.values } };
  const [first = form.focus] = found.problems.keys();
  return { state: { ...form, problems: found.problems, focus: first } };
}

function enterInto(input: FieldInput, entry: FieldEntry, key: Key): FieldEntry {
  const isSpace = key.name === "text" && key.text === " ";
  const step = key.name === "left" ? -1 : key.name === "right" || isSpace ? 1 : 0;
  const letter = letterOf(key) ?? "";
  switch (entry.kind) {
    case "typed":
      return { kind: "typed", editor: editLine(entry.editor, key) };
    case "switched":
      return switched(entry, key, { letter, turns: step !== 0 });
    case "chosen": {
      const titles = input.kind === "choice" ? input.choices.map(({ title }) => title) : [];
      if (isErasing(key)) return { kind: "chosen" };
      const at = step === 0 ? startingWith(titles, letter, entry.at) : turn(entry.at, step, titles.length);
      return { kind: "chosen", at };
    }
    case "several": {
      const titles = input.kind === "choices" ? input.choices.map(({ title }) => title) : [];
      if (isSpace) return { ...entry, chosen: toggled(entry.chosen, entry.at), isTouched: true };
      const at = step === 0 ? startingWith(titles, letter, entry.at) : turn(entry.at, step, titles.length);
      return { ...entry, at: at ?? entry.at };
    }
  }
}

function isErasing({ name }: Key): boolean {
  return name === "backspace" || name === "delete";
}

function switched(
  entry: Extract<FieldEntry, { readonly kind: "switched" }>,
  key: Key,
  { letter, turns }: { readonly letter: string; readonly turns: boolean },
): FieldEntry {
  if (isErasing(key)) return { kind: "switched" };
  if (turns) return { kind: "switched", isOn: entry.isOn !== true };
  const isYes = letter === "y" || letter === "yes";
  return isYes || letter === "n" || letter === "no" ? { kind: "switched", isOn: isYes } : entry;
}

function turn(at: number | undefined, step: number, count: number): number | undefined {
  if (count === 0) return undefined;
  return at === undefined ? (step > 0 ? 0 : count - 1) : (at + step + count) % count;
}

/**
 * Returns the index of the choice whose title is the typed text, otherwise of the next choice that begins with it. If
 * there is none, returns `at`. The same letter again moves to the next choice.
 */
function startingWith(titles: readonly string[], letters: string, at: number | undefined): number | undefined {
  if (letters === "") return at;
  const whole = titles.findIndex((title) => title.toLowerCase() === letters);
  if (whole !== -1 && (whole !== at || letters.length > 1)) return whole;
  const start = (at ?? -1) + 1;
  const order = [...titles.keys()].map((_, offset) => (start + offset) % titles.length);
  return order.find((index) => titles[index]?.toLowerCase().startsWith(letters) === true) ?? at;
}

function toggled(chosen: ReadonlySet<number>, at: number): ReadonlySet<number> {
  const next = new Set(chosen);
  if (!next.delete(at)) next.add(at);
  return next;
}
