/** Reads the result of `completion/complete`. */

import { objectOf } from "@fairlead/wire/json";

/** Values that a server suggests for an argument of a prompt or a variable of a resource template. */
export interface Completion {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore: boolean;
}

/** Drops invalid members of the result. */
export function toCompletion(raw: unknown): Completion {
  const given = new Map<string, unknown>(Object.entries(objectOf(raw)));
  const [values, total] = [given.get("values"), given.get("total")];
  return {
    values: Array.isArray(values) ? values.filter((value): value is string => typeof value === "string") : [],
    ...(typeof total === "number" && { total }),
    hasMore: given.get("hasMore") === true,
  };
}
