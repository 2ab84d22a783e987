/** Measures text in terminal columns. */

import { stripVTControlCharacters } from "node:util";
import type { SafeText } from "@fairlead/core/text/safe-text";

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]/u;

/** Returns the number of terminal columns that a text takes, exact enough to align a table. */
export function width(text: SafeText): number {
  // Nearly all text is ASCII, which needs no table of widths.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  return Array.from(stripVTControlCharacters(text)).reduce((sum, character) => sum + (wide.test(character) ? 2 : 1), 0);
}
