/** What a validation says: what is wrong with a value, and what could not be looked at. */

import type { JsonObject } from "@fairlead/wire";

export interface Issue {
  /** JSON pointer into the value; "" is the whole of it. A missing property is named as if it were there. */
  readonly path: string;
  /** What was expected, in plain words, to be read after the path: "must be a number". */
  readonly message: string;
  /** The keyword of the schema that is not satisfied, with what it says: for whoever wants to add a suggestion. */
  readonly keyword: string;
  readonly params: JsonObject;
}

export interface Validation {
  readonly issues: readonly Issue[];
  /** What was not validated, or only in part, and why. */
  readonly warnings: readonly string[];
}

/** Validates a value with one schema. Never throws. */
export type Check = (value: unknown) => Validation;

export function notValidated(reason: string): Validation {
  return { issues: [], warnings: [`not validated: ${reason}`] };
}
