/**
 * `fairlead __complete`: the completion scripts call it each time the user presses Tab. It is internal, and its output
 * may change.
 */

import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Output } from "../output/output.ts";
import type { Io } from "../shell/verb.ts";
import { type CompletionAnswer, type CompletionWord, suggestFiles } from "./answer.ts";
import { completeWord } from "./complete.ts";

/** Prints the completions. bash passes `COMP_WORDBREAKS` and the line up to the cursor. zsh and fish pass the words. */
export async function answerTab([shell, ...given]: readonly string[], io: Io, out: Output): Promise<void> {
  if (shell === "bash") {
    const [breaks = "", text = ""] = given;
    const line = readBashLine(text, breaks);
    const { words, current, isRedirected } = line;
    const answer: CompletionAnswer = isRedirected
      ? { kind: "files", prefix: "" }
      : await completeWord(words, current, io);
    // bash cannot complete a path that follows a prefix such as `key=@` in the same word, so Fairlead completes the
    // path.
    const isInside = answer.kind !== "words" && answer.prefix !== "";
    out.print(bashLines(isInside ? await suggestFiles(answer, current, io) : answer, line));
  } else if (shell === "zsh" || shell === "fish") {
    const current = given.at(-1) ?? "";
    out.print(answerLines(await completeWord(given.slice(0, -1), current, io), current, shell));
  }
}

const mostWords = 1000;

/** Formats the suggestions for zsh and fish. These shells filter and quote the words themselves. */
function answerLines(answer: CompletionAnswer, current: string, shell: "zsh" | "fish"): SafeText {
  if (answer.kind !== "words") return safe`${toSafeLine(answer.kind)}\t${toSafeLine(answer.prefix)}`;
  const { candidates } = answer;
  // If there are more suggestions than the limit, those that do not start with the typed text are removed first.
  const near = candidates.length > mostWords ? candidates.filter(({ value }) => value.startsWith(current)) : candidates;
  const toLine = ({ value, about, isOpen }: CompletionWord): SafeText =>
    shell === "zsh" ? safe`${isOpen ? safe`+` : safe` `}${value}\t${about}` : safe`${value}\t${about}`;
  return joinSafe([safe`words`, ...near.slice(0, mostWords).map(toLine)]);
}

/** Formats the suggestions for bash, which inserts the words unchanged. */
function bashLines(answer: CompletionAnswer, line: BashLine): SafeText {
  if (answer.kind !== "words") return toSafeLine(answer.kind);
  const replies = answer.candidates.flatMap(({ value, isOpen }) => {
    const reply = bashReply(value, line) ?? "";
    const shown = toSafeLine(reply);
    // A word with a line break is left out, because the output has one word for each line.
    return reply === "" || shown !== reply ? [] : { reply: shown, isOpen };
  });
  const [only, ...others] = replies;
  const kind = only?.isOpen && others.length === 0 ? safe`open` : safe`words`;
  return joinSafe([kind, ...replies.slice(0, mostWords).map(({ reply }) => reply)]);
}

// Parses the raw command line that bash passes to a completion function. Never expands or runs any part of it. Pure
// functions.

/** The parsed command line up to the cursor. */
export interface BashLine {
  /** The complete words after the command name, without quotes. */
  readonly words: readonly string[];
  /** The current word, up to the cursor. */
  readonly current: string;
  /** Whether the current word is the file name of a redirection (`<` or `>`). */
  readonly isRedirected: boolean;
  /** The text that bash replaces by the completion: after the last `COMP_WORDBREAKS` character or an open quote. */
  readonly segment: string;
  readonly quote: Quote;
}

/** The quote that is still open at the cursor. `\`: the line ends with a backslash. */
type Quote = "" | "'" | '"' | "\\";

/** Parses the line up to the cursor. `breaks`: bash's `COMP_WORDBREAKS`. */
export function readBashLine(line: string, breaks: string): BashLine {
  const words: string[] = [];
  let quote: Quote = "";
  let current: string | undefined;
  let isRedirected = false;
  let segmentFrom = 0;
  let quotedFrom = 0;

  function endWord(): void {
    if (current !== undefined && !isRedirected) words.push(current);
    if (current !== undefined) isRedirected = false;
    current = undefined;
  }

  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (quote === "'" || quote === '"') {
      if (character === quote) quote = "";
      else if (quote === '"' && character === "\\" && at + 1 === line.length) quote = "\\";
      else if (quote === '"' && character === "\\" && /["$`\\]/.test(line.charAt(at + 1))) {
        at += 1;
        current += line.charAt(at);
      } else current += character;
      continue;
    }
    if (character === "\\") {
      at += 1;
      if (at === line.length) quote = "\\";
      current = `${current ?? ""}${line.charAt(at)}`;
      continue;
    }
    if (character === "'" || character === '"') {
      quote = character;
      quotedFrom = at + 1;
      current ??= "";
      continue;
    }
    // bash replaces the text after the last break character. If that character is "@" or "$", bash replaces it too.
    if (breaks.includes(character)) segmentFrom = character === "@" || character === "$" ? at : at + 1;
    if (/[\s;|&()]/.test(character)) endWord();
    else if (character === "<" || character === ">") {
      // The number in `2>` is part of the redirection.
      if (current !== undefined && /^\d+$/.test(current)) current = undefined;
      endWord();
      isRedirected = true;
    } else current = `${current ?? ""}${character}`;
  }
  const isQuoted = quote === "'" || quote === '"';
  return {
    words: words.slice(1),
    current: current ?? "",
    isRedirected,
    segment: line.slice(isQuoted ? quotedFrom : segmentFrom),
    quote,
  };
}

/**
 * Returns the text that bash inserts in place of `segment`: `segment` itself, then the quoted rest of `value`.
 * Undefined if `value` does not start with the typed word.
 */
export function bashReply(value: string, { current, segment, quote }: BashLine): string | undefined {
  if (quote === "\\" || !value.startsWith(current)) return undefined;
  const reply = `${segment}${quoted(value.slice(current.length), quote)}`;
  // If the reply ends with a quote character, bash adds no closing quote, so Fairlead adds it.
  return quote !== "" && reply.endsWith(quote) ? `${reply}${quote}` : reply;
}

function quoted(text: string, quote: "" | "'" | '"'): string {
  switch (quote) {
    case "":
      return text.replaceAll(/[^\w@%+=:,./\u0080-\uffff-]/g, "\\$&");
    case "'":
      return text.replaceAll("'", String.raw`'\''`);
    case '"':
      // In double quotes, "!" expands the shell history, and "\!" keeps its backslash. So "!" goes into single
      // quotes.
      return text.replaceAll(/["$`\\]/g, "\\$&").replaceAll("!", `"'!'"`);
  }
}
