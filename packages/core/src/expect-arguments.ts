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
export const aCount: Wanted = {
  words: "a whole number above 0",
  accepts: (given) => Number.isInteger(given) && Number(given) > 0,
};
export const anObject: Wanted = {
  words: "an object",
  accepts: (given) => isAnyObject(given) && !Array.isArray(given),
};
export const aFunction: Wanted = { words: "a function", accepts: (given) => typeof given === "function" };
export const aSignal: Wanted = {
  words: "an AbortSignal",
  accepts: (given) => isAnyObject(given) && "aborted" in given && "addEventListener" in given,
};
export const someParts: Wanted = {
  words: "a list of parts",
  accepts: (given) => Array.isArray(given) && given.every(isAnyObject),
};
/** A list of objects or another iterable, or a function that returns one. */
export const someItems: Wanted = {
  words: "a list of objects, or a function that returns one",
  accepts(given) {
    if (Array.isArray(given)) return given.every(isAnyObject);
    return typeof given === "function" || (isAnyObject(given) && Symbol.iterator in given);
  },
};
export const aListOfStrings: Wanted = {
  words: "a list of strings",
  accepts: (given) => Array.isArray(given) && given.every((item) => typeof item === "string"),
};

/** An object that has these methods. */
export function withMethod(...methods: readonly string[]): Wanted {
  return {
    words: `an object with ${methods.map((method) => `${method}()`).join(" and ")}`,
    accepts: (given) =>
      isAnyObject(given) && methods.every((method) => typeof Reflect.get(given, method) === "function"),
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
  for (const [parameter, [given, wanted]] of Object.entries(expected))
    if (!isAccepted(given, wanted))
      throw new HostError("usage", `${call}: "${parameter}" must be ${wanted.words}, not ${kindOf(given)}`);
}

/**
 * Reads members of an object that a program passes, each once, and checks them. `path` is put before their names in
 * messages, such as `options.`.
 *
 * @throws HostError `usage` that names the first wrong member, or the first that cannot be read
 */
export function readMembers<T extends object, K extends keyof T & string>(
  call: string,
  given: T,
  wanted: Readonly<Record<K, Wanted>>,
  path = "",
): Pick<T, K> {
  const members: Partial<Pick<T, K>> = {};
  for (const name of Object.keys(wanted) as K[]) {
    try {
      members[name] = given[name];
    } catch (cause) {
      throw new HostError("usage", `${call}: "${path}${name}" cannot be read`, { cause });
    }
    expectArguments(call, { [`${path}${name}`]: [members[name], wanted[name]] });
  }
  return members as Pick<T, K>;
}

/** Whether a value is what is wanted. One whose getter throws, or that is a revoked proxy, is not. */
function isAccepted(given: unknown, { accepts }: Wanted): boolean {
  try {
    return accepts(given);
  } catch {
    return false;
  }
}

function isAnyObject(given: unknown): given is object {
  return typeof given === "object" && given !== null;
}

function kindOf(given: unknown): string {
  if (given === null || given === undefined || given === "") return given === "" ? "an empty string" : String(given);
  if (isAccepted(given, { words: "a list", accepts: Array.isArray })) return "a list";
  const type = typeof given;
  return `${type === "object" ? "an" : "a"} ${type}`;
}
