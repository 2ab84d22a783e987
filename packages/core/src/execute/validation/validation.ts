/** The result of a validation, as the validator and its worker threads return it. */

import type { JsonObject } from "@fairlead/wire";

/** One place where a value violates its schema. */
export interface Issue {
  /** JSON pointer into the value; "" means the whole value. If a property is missing, this is where it should be. */
  readonly path: string;
  /** What is wrong, as the end of a sentence that begins with the path, such as "must be a number". */
  readonly message: string;
  /** The violated JSON Schema keyword and Ajv's parameters for it. Messages use them to suggest a correction. */
  readonly keyword: string;
  readonly params: JsonObject;
}

/** Result of a validation. Without issues, the value is valid as far as it was checked. */
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
