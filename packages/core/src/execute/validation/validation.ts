import type { JsonObject } from "@fairlead/wire";

export interface Issue {
  /** JSON pointer into the value; "" means the whole value. For a missing property, the path that it would have. */
  readonly path: string;
  /** The requirement, as the end of a sentence that begins with the path, such as "must be a number". */
  readonly message: string;
  /** The violated keyword and its parameters. A message may use them to suggest a correction. */
  readonly keyword: string;
  readonly params: JsonObject;
}

export interface Validation {
  readonly issues: readonly Issue[];
  /** Each warning says what was not validated, and why. */
  readonly warnings: readonly string[];
}

/** Validates a value with one schema. Never throws. */
export type Check = (value: unknown) => Validation;

/** Returns the result for a value that could not be validated. */
export function notValidated(reason: string): Validation {
  return { issues: [], warnings: [`not validated: ${reason}`] };
}
