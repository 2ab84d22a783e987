/** Patterns over arguments, on an engine that is linear in the text: no rule can be made to hang on the arguments of a call. */

import { errorMessage } from "@fairlead/wire/text";
import { RE2JS } from "re2js";
import type { ArgsPattern } from "./rule.ts";

/** The pattern, or why it cannot be used: look-around, back-references, repeat counts that are too high. */
export function compileArgsPattern(text: string): ArgsPattern | string {
  try {
    const linear = RE2JS.compile(RE2JS.translateRegExp(text));
    return { text, matches: (json) => linear.test(json) };
  } catch (error) {
    return errorMessage(error).replace(/^error parsing regexp: /, "");
  }
}
