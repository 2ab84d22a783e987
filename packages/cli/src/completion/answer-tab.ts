/** `fairlead __complete`: called by the completion scripts at every Tab. Internal; its output may change. */

import type { Output } from "../output/output.ts";
import type { Io } from "../shell/io.ts";
import type { CompletionAnswer } from "./answer.ts";
import { readBashLine } from "./bash-line.ts";
import { completeWord } from "./complete.ts";
import { suggestFiles } from "./file-words.ts";
import { answerLines, bashLines } from "./print-answer.ts";

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
