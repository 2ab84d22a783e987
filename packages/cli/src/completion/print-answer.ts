/** Formats completions for each shell's script: the kind first, then one line per word. */

import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { CompletionAnswer, CompletionWord } from "./answer.ts";
import { type BashLine, bashReply } from "./bash-line.ts";

/** The most words that a shell gets. */
const mostWords = 1000;

/** For zsh and fish, which filter and quote words themselves. */
export function answerLines(answer: CompletionAnswer, current: string, shell: "zsh" | "fish"): SafeText {
  if (answer.kind !== "words") return safe`${toSafeLine(answer.kind)}\t${toSafeLine(answer.prefix)}`;
  const { candidates } = answer;
  // Above the limit, filter by the typed prefix here, so that matches are not cut off.
  const near = candidates.length > mostWords ? candidates.filter(({ value }) => value.startsWith(current)) : candidates;
  const toLine = ({ value, about, isOpen }: CompletionWord): SafeText =>
    shell === "zsh" ? safe`${isOpen ? safe`+` : safe` `}${value}\t${about}` : safe`${value}\t${about}`;
  return joinSafe([safe`words`, ...near.slice(0, mostWords).map(toLine)]);
}

/** For bash, which inserts the words unchanged. */
export function bashLines(answer: CompletionAnswer, line: BashLine): SafeText {
  if (answer.kind !== "words") return toSafeLine(answer.kind);
  const replies = answer.candidates.flatMap(({ value, isOpen }) => {
    const reply = bashReply(value, line) ?? "";
    const shown = toSafeLine(reply);
    // A typed word may contain a line break, which this line-based output cannot express.
    return reply === "" || shown !== reply ? [] : { reply: shown, isOpen };
  });
  const [only, ...others] = replies;
  const kind = only?.isOpen && others.length === 0 ? safe`open` : safe`words`;
  return joinSafe([kind, ...replies.slice(0, mostWords).map(({ reply }) => reply)]);
}
