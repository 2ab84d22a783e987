/** Checks the arguments of public constructors and functions: a wrong one is a `HostError` that names it. */

import { HostError } from "./errors.ts";

/** What an argument must be, in words and as a test. */
export interface Wanted {
  readonly words: string;
  readonly accepts: (given: unknown) => boolean;
}

export const aString: Wanted = { words: "a string", accepts: (given) => typeof given === "string" };
export const aName: Wanted = {
  words: "a string that is not empty",
  accepts: (given) => typeof given === "string" && given !== "",
};
export const aBoolean: Wanted = { words: "true or false", accepts: (given) => typeof given === "boolean" };
export const someMilliseconds: Wanted = {
  words: "a number of milliseconds",
  accepts: (given) => typeof given === "number" && given >= 0,
};
export const anObject: Wanted = { words: "an object", accepts: isAnyObject };
export const aFunction: Wanted = { words: "a function", accepts: (given) => typeof given === "function" };
export const aSignal: Wanted = {
  words: "an AbortSignal",
  accepts: (given) => isAnyObject(given) && "aborted" in given && "addEventListener" in given,
};
export const someParts: Wanted = {
  words: "a list of parts",
  accepts: (given) => Array.isArray(given) && given.every(isAnyObject),
};
export const aListOfStrings: Wanted = {
  words: "a list of strings",
  accepts: (given) => Array.isArray(given) && given.every((item) => typeof item === "string"),
};

/** An object that has this method. */
export function withMethod(method: string): Wanted {
  return {
    words: `an object with ${method}()`,
    accepts: (given) => isAnyObject(given) && typeof Reflect.get(given, method) === "function",
  };
}

/** The same, or no argument. */
export function optional({ words, accepts }: Wanted): Wanted {
  return { words, accepts: (given) => given === undefined || accepts(given) };
}

/**
 * Checks arguments by name. `call` is the function as the message shows it.
 *
 * @throws HostError `usage` that names the first wrong argument
 */
export function expectArguments(
  call: string,
  expected: Readonly<Record<string, readonly [given: unknown, wanted: Wanted]>>,
): void {
  for (const [parameter, [given, { words, accepts }]] of Object.entries(expected))
    if (!accepts(given)) throw new HostError("usage", `${call}: "${parameter}" must be ${words}, not ${kindOf(given)}`);
}

function isAnyObject(given: unknown): given is object {
  return typeof given === "object" && given !== null;
}

function kindOf(given: unknown): string {
  if (given === null || given === undefined || given === "") return given === "" ? "an empty string" : String(given);
  if (Array.isArray(given)) return "a list";
  const type = typeof given;
  return `${type === "object" ? "an" : "a"} ${type}`;
}
