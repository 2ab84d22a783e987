/** Compiles `argsPattern` for an engine with linear matching time, so that no arguments can make a rule hang. */

import { errorMessage } from "@fairlead/wire/text";
import { RE2JS } from "re2js";
import type { ArgsPattern } from "./rule.ts";

/**
 * Returns the pattern, or the reason why it cannot be used: look-around, back-references, or repeat counts that are too
 * high.
 */
export function compileArgsPattern(text: string): ArgsPattern | string {
  try {
    const linear = RE2JS.compile(RE2JS.translateRegExp(text));
    return { text, matches: (json) => linear.test(json) };
  } catch (error) {
    return errorMessage(error).replace(/^error parsing regexp: /, "");
  }
}
