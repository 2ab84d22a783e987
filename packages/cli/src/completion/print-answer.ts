/** An answer in the form that each shell's script reads: the kind first, then one line for each word. */

import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { CompletionAnswer, CompletionWord } from "./answer.ts";
import { type BashLine, bashReply } from "./bash-line.ts";

/** More than anyone reads, and as much as a shell can show at once. */
const mostWords = 1000;

/** For zsh and fish, which choose and quote by themselves. */
export function answerLines(answer: CompletionAnswer, current: string, shell: "zsh" | "fish"): SafeText {
  if (answer.kind !== "words") return safe`${toSafeLine(answer.kind)}\t${toSafeLine(answer.prefix)}`;
  const { candidates } = answer;
  // Beyond that they are not left to choose from all: those that begin like the word come first.
  const near = candidates.length > mostWords ? candidates.filter(({ value }) => value.startsWith(current)) : candidates;
  const toLine = ({ value, about, isOpen }: CompletionWord): SafeText =>
    shell === "zsh" ? safe`${isOpen ? safe`+` : safe` `}${value}\t${about}` : safe`${value}\t${about}`;
  return joinSafe([safe`words`, ...near.slice(0, mostWords).map(toLine)]);
}

/** For bash, which takes the words as they come. */
export function bashLines(answer: CompletionAnswer, line: BashLine): SafeText {
  if (answer.kind !== "words") return toSafeLine(answer.kind);
  const replies = answer.candidates.flatMap(({ value, isOpen }) => {
    const reply = bashReply(value, line) ?? "";
    const shown = toSafeLine(reply);
    // What the person typed themselves may have a line break in it: that is more than bash can be told.
    return reply === "" || shown !== reply ? [] : { reply: shown, isOpen };
  });
  const [only, ...others] = replies;
  const kind = only?.isOpen && others.length === 0 ? safe`open` : safe`words`;
  return joinSafe([kind, ...replies.slice(0, mostWords).map(({ reply }) => reply)]);
}
