/** `fairlead __complete`: what the scripts of `fairlead completion` ask at every Tab. For them alone, and of no stable form. */

import type { Output } from "../output/output.ts";
import type { Io } from "../shell/io.ts";
import type { CompletionAnswer } from "./answer.ts";
import { readBashLine } from "./bash-line.ts";
import { completeWord } from "./complete.ts";
import { suggestFiles } from "./file-words.ts";
import { answerLines, bashLines } from "./print-answer.ts";

/** Bash gives `COMP_WORDBREAKS` and the line up to the cursor; the others, the words up to it. */
export async function answerTab([shell, ...given]: readonly string[], io: Io, out: Output): Promise<void> {
  if (shell === "bash") {
    const [breaks = "", text = ""] = given;
    const line = readBashLine(text, breaks);
    const { words, current, isRedirected } = line;
    const answer: CompletionAnswer = isRedirected
      ? { kind: "files", prefix: "" }
      : await completeWord(words, current, io);
    // Bash finds no files behind something else in the same word.
    const isInside = answer.kind !== "words" && answer.prefix !== "";
    out.print(bashLines(isInside ? await suggestFiles(answer, current, io) : answer, line));
  } else if (shell === "zsh" || shell === "fish") {
    const current = given.at(-1) ?? "";
    out.print(answerLines(await completeWord(given.slice(0, -1), current, io), current, shell));
  }
}
