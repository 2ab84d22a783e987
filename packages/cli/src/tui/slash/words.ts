/** The words behind a slash command, as a shell would take them apart. Pure. */

import { splitWords } from "@fairlead/core/resources/prompt-line";

export function wordsOf(line: string): readonly string[] {
  return splitWords(line).map(({ text }) => text);
}
