/**
 * Compiles `argsPattern` with a regular expression engine that always needs linear time. No arguments can make a rule
 * hang.
 */

import { errorMessage } from "@fairlead/wire/text";
import { RE2JS } from "re2js";
import type { ArgsPattern } from "./rule.ts";

/**
 * Returns the pattern, or the reason why it cannot be used. Look-around, back-references and very high repeat counts
 * are not supported.
 */
export function compileArgsPattern(text: string): ArgsPattern | string {
  try {
    const linear = RE2JS.compile(RE2JS.translateRegExp(text));
    return { text, matches: (json) => linear.test(json) };
  } catch (error) {
    return errorMessage(error).replace(/^error parsing regexp: /, "");
  }
}
