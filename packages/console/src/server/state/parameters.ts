/** Checks the parameters of the page's commands. The page is a program of ours, but a request may come from anywhere. */

import { HostError } from "@fairlead/core/errors";
import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import type { RunOptions } from "../console-source.ts";

/** Returns the value as its type. @throws HostError `usage` that names the parameter */
export type Reader<T> = (value: unknown, name: string) => T;

/** One command: what it takes, and what it does with that. */
export interface CommandHandler<P, R> {
  readonly takes: { readonly [K in keyof P]-?: Reader<P[K]> };
  /** Whether the command hides secrets itself. */
  readonly isHidden?: boolean;
  readonly run: (params: P, options: RunOptions) => Promise<R> | R;
}

/** The handlers of some commands. */
export type Handlers<C extends { readonly [V in keyof C]: { readonly params: unknown; readonly result: unknown } }> = {
  readonly [V in keyof C]: CommandHandler<C[V]["params"], C[V]["result"]>;
};

/**
 * Runs a command with checked parameters.
 *
 * @throws HostError `usage` that names the first wrong parameter
 */
export async function runCommand<P, R>(
  verb: string,
  { takes, run }: CommandHandler<P, R>,
  params: unknown,
  options: RunOptions,
): Promise<R> {
  if (!isObject(params)) throw new HostError("usage", `${verb} takes an object of parameters`);
  const names = Object.keys(takes);
  const unknown = Object.keys(params).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new HostError("usage", `${verb} has no parameter ${JSON.stringify(unknown.slice(0, 100))}`);
  const readers: readonly [string, Reader<unknown>][] = Object.entries(takes);
  const read = readers.map(([name, reader]) => [
    name,
    reader(Object.hasOwn(params, name) ? params[name] : undefined, name),
  ]);
  return run(Object.fromEntries(read), options);
}

/** Longer texts are no names, addresses or searches. */
const longestText = 100_000;
const longestList = 1000;

function wrong(name: string, wanted: string): HostError {
  return new HostError("usage", `the parameter ${name} must be ${wanted}`);
}

/** A text that is not empty. */
export const aText: Reader<string> = (value, name) => {
  if (typeof value === "string" && value !== "" && value.length <= longestText) return value;
  throw wrong(name, `a text of 1 to ${longestText} characters`);
};

/** A text that may be empty. */
export const anyText: Reader<string> = (value, name) => (value === "" ? "" : aText(value, name));

export const aSwitch: Reader<boolean> = (value, name) => {
  if (typeof value === "boolean") return value;
  throw wrong(name, "true or false");
};

/** A whole number above zero, up to `most`. */
export const aCount =
  (most: number): Reader<number> =>
  (value, name) => {
    if (typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value <= most) return value;
    throw wrong(name, `a whole number from 1 to ${most}`);
  };

/** A position: 0 or a whole number above. */
export const anIndex: Reader<number> = (value, name) =>
  value === 0 ? 0 : aCount(Number.MAX_SAFE_INTEGER)(value, name);

export const anObject: Reader<JsonObject> = (value, name) => {
  if (isObject(value)) return value;
  throw wrong(name, "an object");
};

export const listOf =
  <T>(reader: Reader<T>): Reader<readonly T[]> =>
  (value, name) => {
    if (Array.isArray(value) && value.length <= longestList) return value.map((each) => reader(each, name));
    throw wrong(name, `a list of at most ${longestList} items`);
  };

export const texts: Reader<readonly string[]> = listOf(aText);

export const textsByName: Reader<Readonly<Record<string, string>>> = (value, name) => {
  const given = anObject(value, name);
  return Object.fromEntries(Object.entries(given).map(([key, each]) => [key, anyText(each, `${name}.${key}`)]));
};

export const oneOf =
  <T extends string>(...choices: readonly T[]): Reader<T> =>
  (value, name) => {
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    throw wrong(name, choices.map((choice) => JSON.stringify(choice)).join(" or "));
  };

export const optional =
  <T>(reader: Reader<T>): Reader<T | undefined> =>
  (value, name) =>
    value === undefined ? undefined : reader(value, name);
