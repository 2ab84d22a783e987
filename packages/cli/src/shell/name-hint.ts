/** Suggests a similar name for a mistyped one, as the end of an error message. */

import { closest } from "@fairlead/core/text/closest";

/** Returns `; did you mean "NAME"?`, or "" if no known name is similar. */
export function nameHint(word: string, names: Iterable<string>): string {
  const near = closest(word, names);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}
