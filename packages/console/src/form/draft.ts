/**
 * What a person has entered into a form of the console, and its conversion from and to JSON. The form and the JSON text
 * beside it show the same draft. Pure.
 */

import { pointerTo } from "@fairlead/core/normalise";
import { duplicateName, inexactNumber } from "@fairlead/core/plain-text";
import type { NestedField, NestedInput } from "./nested-input.ts";
import { numberValue, textValue } from "./typed-value.ts";

/** The content of one input. `absent`: nothing was entered, and nothing is sent. */
export type Draft =
  | { readonly kind: "absent" }
  | { readonly kind: "typed"; readonly text: string }
  /** A value that the form cannot show in its own way: JSON text. */
  | { readonly kind: "json"; readonly text: string }
  | { readonly kind: "switched"; readonly isOn: boolean }
  /** The index of the choice, or of several. */
  | { readonly kind: "chosen"; readonly at: number }
  | { readonly kind: "several"; readonly chosen: readonly number[] }
  /** `others`: keys that the schema does not name, with the form that it gives for all of them. */
  | {
      readonly kind: "object";
      readonly members: Readonly<Record<string, Draft>>;
      readonly others: readonly { readonly key: string; readonly draft: Draft }[];
    }
  | { readonly kind: "list"; readonly items: readonly Draft[] }
  | { readonly kind: "variant"; readonly at: number; readonly draft: Draft };

/** What a draft means. The problems are keyed by JSON pointer, and continue a sentence that begins with the field's name. */
export interface DraftValue {
  /** Undefined: nothing is sent. */
  readonly value: unknown;
  readonly problems: ReadonlyMap<string, string>;
}

export const absent: Draft = { kind: "absent" };

/** Returns the draft that shows a value. A value that does not fit the input is shown as JSON. */
export function draftOf(input: NestedInput, value: unknown): Draft {
  if (value === undefined) return absent;
  return fittingDraft(input, value) ?? { kind: "json", text: JSON.stringify(value, undefined, 2) };
}

/** Returns the draft of an empty form, with the schema's defaults. */
export function emptyDraft(input: NestedInput): Draft {
  switch (input.kind) {
    case "object":
      return {
        kind: "object",
        members: Object.fromEntries(input.fields.map((field) => [field.name, initialOf(field)])),
        others: [],
      };
    case "tuple":
      return { kind: "list", items: input.items.map(emptyDraft) };
    case "variant": {
      const [first] = input.alternatives;
      return first === undefined ? absent : { kind: "variant", at: 0, draft: emptyDraft(first.input) };
    }
    case "constant":
    case "text":
    case "number":
    case "switch":
    case "choice":
    case "choices":
    case "list":
    case "json":
      return absent;
  }
}

/** An object inside opens only if it is required: an optional one that stays empty is not sent. */
function initialOf({ input, default: given, isRequired }: NestedField): Draft {
  if (given !== undefined) return draftOf(input, given);
  return isRequired ? emptyDraft(input) : absent;
}

function fittingDraft(input: NestedInput, value: unknown): Draft | undefined {
  switch (input.kind) {
    case "constant":
      return isSame(value, input.value) ? absent : undefined;
    case "text":
      return typeof value === "string" ? { kind: "typed", text: value } : undefined;
    case "number":
      return typeof value === "number" ? { kind: "typed", text: String(value) } : undefined;
    case "switch":
      return typeof value === "boolean" ? { kind: "switched", isOn: value } : undefined;
    case "choice": {
      const at = input.choices.findIndex((choice) => isSame(choice.value, value));
      return at === -1 ? undefined : { kind: "chosen", at };
    }
    case "choices": {
      const chosen = listIn(value)?.map((one) => input.choices.findIndex((choice) => isSame(choice.value, one)));
      return chosen === undefined || chosen.includes(-1) ? undefined : { kind: "several", chosen };
    }
    case "json":
      return undefined;
    case "object":
      return objectDraft(input, value);
    case "list":
      return listDraft(() => input.item, value);
    case "tuple":
      return listDraft((at) => input.items[at] ?? input.rest, value);
    case "variant": {
      for (const [at, { input: one }] of input.alternatives.entries()) {
        const draft = fittingDraft(one, value);
        if (draft !== undefined) return { kind: "variant", at, draft };
      }
      return undefined;
    }
  }
}

function objectDraft(
  { fields, others }: Extract<NestedInput, { readonly kind: "object" }>,
  value: unknown,
): Draft | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const given = new Map(Object.entries(value));
  const named = new Set(fields.map(({ name }) => name));
  const rest = [...given].filter(([key]) => !named.has(key));
  if (rest.length > 0 && others === undefined) return undefined;
  // A constant that differs shows that another alternative is meant.
  if (fields.some(({ name, input }) => input.kind === "constant" && !isSame(given.get(name), input.value)))
    return undefined;
  return {
    kind: "object",
    members: Object.fromEntries(fields.map(({ name, input }) => [name, draftOf(input, given.get(name))])),
    others: rest.map(([key, one]) => ({ key, draft: others === undefined ? absent : draftOf(others, one) })),
  };
}

function listDraft(inputAt: (at: number) => NestedInput | undefined, value: unknown): Draft | undefined {
  const items: Draft[] = [];
  for (const [at, one] of listIn(value)?.entries() ?? [[-1, undefined]]) {
    const input = inputAt(at);
    if (at === -1 || input === undefined) return undefined;
    items.push(draftOf(input, one));
  }
  return { kind: "list", items };
}

function listIn(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** Returns the value of a draft, with the problems of all its parts. */
export function draftValue(input: NestedInput, draft: Draft): DraftValue {
  const problems = new Map<string, string>();
  return { value: new DraftReader(problems).valueOf(input, draft, ""), problems };
}

class DraftReader {
  readonly #problems: Map<string, string>;

  constructor(problems: Map<string, string>) {
    this.#problems = problems;
  }

  /** Undefined: the part is not sent. */
  valueOf(input: NestedInput, draft: Draft, at: string): unknown {
    if (draft.kind === "json") return this.#jsonValue(draft.text, at);
    switch (input.kind) {
      case "constant":
        return input.value;
      case "text":
        return draft.kind === "typed" && draft.text !== ""
          ? this.#settled(textValue(input, draft.text), at)
          : undefined;
      case "number":
        return draft.kind === "typed" && draft.text.trim() !== ""
          ? this.#settled(numberValue(input, draft.text.trim()), at)
          : undefined;
      case "switch":
        return draft.kind === "switched" ? draft.isOn : undefined;
      case "choice":
        return draft.kind === "chosen" ? input.choices[draft.at]?.value : undefined;
      case "choices": {
        if (draft.kind !== "several") return undefined;
        const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = input;
        this.#checkCount(draft.chosen.length, { minItems, maxItems, at, of: "selected" });
        return input.choices.flatMap(({ value }, index) => (draft.chosen.includes(index) ? [value] : []));
      }
      case "json":
        return undefined;
      case "object":
        return draft.kind === "object" ? this.#objectValue(input, draft, at) : undefined;
      case "list": {
        if (draft.kind !== "list") return undefined;
        const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = input;
        this.#checkCount(draft.items.length, { minItems, maxItems, at, of: "items" });
        return draft.items.map((item, index) => this.#itemValue(input.item, item, pointerTo(at, index)));
      }
      case "tuple":
        return this.#tupleValue(input, draft, at);
      case "variant": {
        const chosen = draft.kind === "variant" ? input.alternatives[draft.at] : undefined;
        return chosen === undefined || draft.kind !== "variant"
          ? undefined
          : this.valueOf(chosen.input, draft.draft, at);
      }
    }
  }

  #objectValue(
    { fields, others }: Extract<NestedInput, { readonly kind: "object" }>,
    draft: Extract<Draft, { readonly kind: "object" }>,
    at: string,
  ): unknown {
    const entries: [string, unknown][] = [];
    for (const { name, input, isRequired, default: given } of fields) {
      const here = pointerTo(at, name);
      const value = this.valueOf(input, draft.members[name] ?? absent, here);
      if (value !== undefined) entries.push([name, value]);
      else if (isRequired && given === undefined && !this.#problems.has(here)) this.#problems.set(here, "is required");
    }
    const keys = new Set(entries.map(([name]) => name));
    for (const { key, draft: one } of draft.others) {
      const here = pointerTo(at, key);
      if (key === "" || keys.has(key)) this.#problems.set(here, key === "" ? "needs a name" : "is there twice");
      keys.add(key);
      const value = others === undefined ? undefined : this.valueOf(others, one, here);
      if (value !== undefined) entries.push([key, value]);
    }
    // A field may be called `__proto__`: an assignment would set the prototype.
    return Object.fromEntries(entries);
  }

  #tupleValue({ items, rest }: Extract<NestedInput, { readonly kind: "tuple" }>, draft: Draft, at: string): unknown {
    if (draft.kind !== "list") return undefined;
    const values = draft.items.map((item, index) => {
      const input = items[index] ?? rest;
      return input === undefined ? undefined : this.valueOf(input, item, pointerTo(at, index));
    });
    const last = values.findLastIndex((value) => value !== undefined);
    if (last === -1) return undefined;
    for (const [index, value] of values.slice(0, last).entries())
      if (value === undefined) this.#problems.set(pointerTo(at, index), "is required");
    return values.slice(0, last + 1);
  }

  #itemValue(input: NestedInput, item: Draft, at: string): unknown {
    const value = this.valueOf(input, item, at);
    if (value === undefined && !this.#problems.has(at)) this.#problems.set(at, "is required");
    return value;
  }

  #checkCount(
    count: number,
    {
      minItems,
      maxItems,
      at,
      of,
    }: { readonly minItems: number; readonly maxItems: number; readonly at: string; readonly of: string },
  ): void {
    if (count < minItems) this.#problems.set(at, `must have at least ${minItems} ${of}`);
    if (count > maxItems) this.#problems.set(at, `must have at most ${maxItems} ${of}`);
  }

  #jsonValue(text: string, at: string): unknown {
    if (text.trim() === "") return undefined;
    const read = jsonValue(text);
    if (typeof read !== "string") return read.value;
    this.#problems.set(at, read);
    return undefined;
  }

  #settled(read: ReturnType<typeof textValue>, at: string): unknown {
    if (read.kind === "problem") this.#problems.set(at, read.problem);
    return read.kind === "value" ? read.value : undefined;
  }
}

/** Reads JSON text. Returns a text if it is no JSON, or if its value would not be sent exactly as it is written. */
export function jsonValue(text: string): { readonly value: unknown } | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  const inexact = inexactNumber(text);
  if (inexact !== undefined) return `has a number that cannot be sent exactly: ${inexact}`;
  const twice = duplicateName(text);
  return twice === undefined ? { value } : `has the key "${twice}" twice in one object`;
}
