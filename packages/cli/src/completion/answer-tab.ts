/**
 * `fairlead __complete`: the completion scripts call it each time the user presses Tab. It is internal, and its output
 * may change.
 */

import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Output } from "../output/output.ts";
import { ownOptions } from "../shell/help.ts";
import type { Io } from "../shell/verb.ts";
import { commandGroups, verbs } from "../shell/verbs.ts";
import {
  type CompletionAnswer,
  type CompletionWord,
  nothing,
  type Suggestion,
  suggestFiles,
  toWords,
  withPrefix,
} from "./answer.ts";
import {
  type KnownCommand,
  type KnownOption,
  knownCommand,
  longFlagOf,
  placeholderOf,
  sourceOfOperand,
  sourceOfOption,
  type ValueSource,
} from "./known-command.ts";
import { type Cursor, findCommand, isForeign, readWords, splitOption } from "./typed-words.ts";

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

// Completes the word at the cursor. Starts no server.

/** Returns completions. `words`: the words before the current word. `current`: the current word up to the cursor. */
async function completeWord(words: readonly string[], current: string, io: Io): Promise<CompletionAnswer> {
  const found = findCommand(words);
  // After a command group such as `mcp`, the options of `fairlead` itself are suggested. `lock` is a group and also a
  // command, so its own options are suggested.
  const own = found?.kind === "group" ? verbs.find((verb) => verb.words === found.group) : found?.row;
  const row = own ?? verbs.find((verb) => verb.words === "");
  if (found === undefined || row === undefined) return nothing;
  const command = await knownCommand(row);
  const typed = readWords(found.words, command);
  const at: Cursor = { words: row.words, typed, current, io };
  if (typed.pending) return completeValue(typed.pending, at);
  const { option: last } = splitOption(found.words.at(-1) ?? "", command);
  // `--resume` takes the next word as its value, unless that word is an option.
  if (!current.startsWith("-") && last && sourceOfOption(row.words, last) === "conversations")
    return completeValue(last, at);
  if (typed.takesOptions && current.startsWith("-"))
    return completeOption(found.kind === "group" && found.group === "" ? withVersion(command) : command, at);
  if (found.kind === "group") return toWords(commandsIn(found.group, found.isHelp));
  return found.isHelp ? nothing : completeOperand(command, at);
}

function withVersion(command: KnownCommand): KnownCommand {
  const [flags, summary] = ownOptions.version;
  return { ...command, options: [...command.options, { flags, summary }] };
}

async function completeOption(command: KnownCommand, at: Cursor): Promise<CompletionAnswer> {
  const { option, value } = splitOption(at.current, command);
  if (value === undefined)
    return toWords(command.options.map((each) => ({ value: longFlagOf(each), about: each.summary })));
  if (option === undefined || placeholderOf(option) === undefined) return nothing;
  const prefix = at.current.slice(0, at.current.length - value.length);
  return withPrefix(prefix, await completeValue(option, { ...at, current: value }));
}

function completeValue(option: KnownOption, at: Cursor): Promise<CompletionAnswer> {
  if (option.choices) return Promise.resolve(chosenFrom(option.choices));
  return withSource(sourceOfOption(at.words, option), at);
}

function completeOperand(command: KnownCommand, at: Cursor): Promise<CompletionAnswer> {
  const { operands } = at.typed;
  if (isForeign(operands, command)) return withSource("files", at);
  const last = command.operands.at(-1);
  const operand = command.operands[operands.length] ?? (last?.isRepeated ? last : undefined);
  if (operand === undefined) return Promise.resolve(nothing);
  if (operand.choices) return Promise.resolve(chosenFrom(operand.choices));
  return withSource(sourceOfOperand(at.words, operand), at);
}

function chosenFrom(choices: readonly string[]): CompletionAnswer {
  return toWords(choices.map((value) => ({ value })));
}

function commandsIn(group: string, isHelp: boolean): readonly Suggestion[] {
  const shown = verbs.filter(({ words }) => words !== "");
  if (group !== "")
    return [
      ...shown.map(({ words, summary }) => [words, summary] as const),
      ...[...commandGroups].filter(([words]) => verbs.every((verb) => verb.words !== words)),
    ].flatMap(([words, about]) => {
      const value = words.startsWith(`${group} `) ? words.slice(group.length + 1) : " ";
      return value.includes(" ") ? [] : { value, about };
    });
  const errors = shown.filter(({ words }) => isHelp && words.startsWith("help "));
  return [
    ...[...commandGroups].flatMap(([value, about]) => (value.includes(" ") ? [] : { value, about })),
    ...shown.flatMap(({ words, summary }) =>
      words.includes(" ") || commandGroups.has(words) ? [] : { value: words, about: summary },
    ),
    ...errors.map(({ words, summary }) => ({ value: words.slice("help ".length), about: summary })),
    ...(isHelp ? [] : [{ value: "help", about: "show help for a command or an error code" }]),
  ];
}

/**
 * Suggests values from a source such as the settings. Imports the code for the source only when it is needed, because
 * Tab must be fast.
 */
async function withSource(source: ValueSource | undefined, at: Cursor): Promise<CompletionAnswer> {
  if (source === undefined) return nothing;
  const { fromSource } = await import("./from-source.ts");
  return fromSource(source, at);
}
