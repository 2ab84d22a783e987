/** `fairlead __complete`: called by the completion scripts at every Tab. Internal; its output may change. */

import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Output } from "../output/output.ts";
import type { Io } from "../shell/io.ts";
import { type CompletionAnswer, type CompletionWord, suggestFiles } from "./answer.ts";
import { type BashLine, bashReply, readBashLine } from "./bash-line.ts";
import { completeWord } from "./complete.ts";

/** bash passes `COMP_WORDBREAKS` and the line up to the cursor; zsh and fish pass the words. */
export async function answerTab([shell, ...given]: readonly string[], io: Io, out: Output): Promise<void> {
  if (shell === "bash") {
    const [breaks = "", text = ""] = given;
    const line = readBashLine(text, breaks);
    const { words, current, isRedirected } = line;
    const answer: CompletionAnswer = isRedirected
      ? { kind: "files", prefix: "" }
      : await completeWord(words, current, io);
    // bash completes no files after a prefix such as `key=@` in the same word.
    const isInside = answer.kind !== "words" && answer.prefix !== "";
    out.print(bashLines(isInside ? await suggestFiles(answer, current, io) : answer, line));
  } else if (shell === "zsh" || shell === "fish") {
    const current = given.at(-1) ?? "";
    out.print(answerLines(await completeWord(given.slice(0, -1), current, io), current, shell));
  }
}

const mostWords = 1000;

/** For zsh and fish, which filter and quote words themselves. */
function answerLines(answer: CompletionAnswer, current: string, shell: "zsh" | "fish"): SafeText {
  if (answer.kind !== "words") return safe`${toSafeLine(answer.kind)}\t${toSafeLine(answer.prefix)}`;
  const { candidates } = answer;
  // Above the limit, filter by the typed prefix here, so that matches are not cut off.
  const near = candidates.length > mostWords ? candidates.filter(({ value }) => value.startsWith(current)) : candidates;
  const toLine = ({ value, about, isOpen }: CompletionWord): SafeText =>
    shell === "zsh" ? safe`${isOpen ? safe`+` : safe` `}${value}\t${about}` : safe`${value}\t${about}`;
  return joinSafe([safe`words`, ...near.slice(0, mostWords).map(toLine)]);
}

/** For bash, which inserts the words unchanged. */
function bashLines(answer: CompletionAnswer, line: BashLine): SafeText {
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
