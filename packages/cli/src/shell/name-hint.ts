/** The suggestion for a mistyped name, as the end of an error message. */

import { closest } from "@fairlead/core/text/closest";

/** `; did you mean "NAME"?`, or an empty text if no known name is similar. */
export function nameHint(word: string, known: Iterable<string>): string {
  const near = closest(word, known);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}
