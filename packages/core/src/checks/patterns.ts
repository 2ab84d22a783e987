/**
 * Regular expressions in a file of checks. Matching takes linear time, because a server's text must not be able to slow
 * it down.
 */

import { errorMessage } from "@fairlead/wire/text";
import { RE2JS } from "re2js";

/** A compiled regular expression. `text` is its source. */
export interface Pattern {
  readonly text: string;
  isIn(text: string): boolean;
  replaceIn(text: string, replacement: string): string;
}

/** Returns the compiled pattern, or a text that says why it cannot be used. */
export function compilePattern(text: string): Pattern | string {
  try {
    const linear = RE2JS.compile(RE2JS.translateRegExp(text));
    return {
      text,
      isIn: (searched) => linear.test(searched),
      replaceIn: (searched, replacement) => linear.matcher(searched).replaceAll(replacement),
    };
  } catch (error) {
    return errorMessage(error).replace(/^error parsing regexp: /, "");
  }
}
