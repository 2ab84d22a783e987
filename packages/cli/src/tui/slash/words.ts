/** Splits the text after a slash command into words, with shell quoting. Pure. */

import { splitWords } from "@fairlead/core/resources/prompt-arguments";

export function wordsOf(line: string): readonly string[] {
  return splitWords(line).map(({ text }) => text);
}
