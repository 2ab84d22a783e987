/** Writes the output of a command: data on stdout, messages on stderr. Accepts only safe text. */

import type { HostError } from "@fairlead/core/errors";
import { joinSafe, repeatSafe, type SafeText, safe, toSafeJson, toSafeLine } from "@fairlead/core/text/safe-text";
import { commandWord, withCommandWord } from "../shell/command-word.ts";
import type { Io } from "../shell/verb.ts";
import { columnsOf, width, wrapMessage } from "./wrap.ts";

/** The output of one command. The caller must escape control characters first (`SafeText`). */
export interface Output {
  /** Prints data: a line on stdout. */
  print(text: SafeText): void;
  /** Prints a text for a reader on stdout. On a terminal, long lines are wrapped between words. */
  show(text: SafeText): void;
  /**
   * Prints a message on stderr, unless `--quiet` is set. In suggested commands, replaces `fairlead` by the word that
   * works on this machine, such as `npx --no -- fairlead`.
   */
  say(text: SafeText): void;
  /** Prints a warning on stderr, even with `--quiet`. */
  warn(text: SafeText): void;
  /** Prints a warning only once, even if several parts of a run report it. */
  warnOnce(text: SafeText): void;
  /**
   * Prints text on stderr, even with `--quiet`. For text that a user must read exactly. On a terminal, this and all
   * other messages are wrapped between words; commands and addresses are never broken.
   */
  exactly(text: SafeText): void;
  /** Prints the `fairlead` commands that undo a change, unless `--quiet` is set. */
  undo(...lines: readonly string[]): void;
  /** In suggested commands, replaces `fairlead` by the word that works on this machine, such as `npx --no -- fairlead`. */
  readonly typed: (text: SafeText) => SafeText;
  /** Prints the JSON document of a command with `--json`. Call it only once. */
  json(document: object): void;
  printedJson(): boolean;
  readonly style: Style;
}

/** Emphasises text on stdout. Without colours the text is unchanged, so the words alone must say everything. */
export interface Style {
  bold(text: SafeText): SafeText;
  dim(text: SafeText): SafeText;
  red(text: SafeText): SafeText;
  green(text: SafeText): SafeText;
  yellow(text: SafeText): SafeText;
  cyan(text: SafeText): SafeText;
}

/** Creates the output of a command. `quiet` is the option `--quiet`. */
export function createOutput(io: Io, options: { readonly quiet: boolean }): Output {
  const told = new Set<SafeText>();
  let printedJson = false;
  let word: SafeText | undefined;
  const command = (): SafeText => {
    word ??= commandWord(io);
    return word;
  };
  const exactly = (text: SafeText): void => void io.stderr.write(`${wrapMessage(text, columnsOf(io.stderr))}\n`);
  const typed = (text: SafeText): SafeText => withCommandWord(text, command());
  const warn = (text: SafeText): void => exactly(typed(text));
  return {
    print: (text) => writeLine(io.stdout, text),
    show: (text) => writeLine(io.stdout, wrapMessage(text, columnsOf(io.stdout))),
    say: (text) => (options.quiet ? undefined : warn(text)),
    warn,
    warnOnce: (text) => {
      if (!told.has(text)) warn(text);
      told.add(text);
    },
    exactly,
    undo: (...lines) => {
      const shown = lines.map((line) => safe`${command()}${toSafeLine(line.replace(/^fairlead/, ""))}`);
      if (!options.quiet) exactly(safe`undo: ${joinSafe(shown, safe` && `)}`);
    },
    typed,
    json: (document) => {
      printedJson = true;
      writeLine(io.stdout, toSafeJson({ schemaVersion: 1, ...document }));
    },
    printedJson: () => printedJson,
    style: createStyle(wantsColour(io)),
  };
}

const pieceSize = 1_048_576;

/** Writes long text in pieces. A single write would copy the text twice, and a result can have 64 MB. */
function writeLine(stream: Io["stdout"], text: SafeText): void {
  let at = 0;
  while (text.length - at > pieceSize) {
    // A piece must not end in the middle of a surrogate pair.
    const end = at + pieceSize - (isFirstHalf(text.charCodeAt(at + pieceSize - 1)) ? 1 : 0);
    stream.write(text.slice(at, end));
    at = end;
  }
  stream.write(`${text.slice(at)}\n`);
}

function isFirstHalf(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function wantsColour({ env, stdout }: Io): boolean {
  if (env["NO_COLOR"]) return false;
  if (env["FORCE_COLOR"]) return env["FORCE_COLOR"] !== "0";
  return stdout.isTTY === true && env["TERM"] !== "dumb";
}

function createStyle(colour: boolean): Style {
  const wrap =
    (open: number, close: number) =>
    (text: SafeText): SafeText =>
      colour ? safe`\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    red: wrap(31, 39),
    green: wrap(32, 39),
    yellow: wrap(33, 39),
    cyan: wrap(36, 39),
  };
}

/** Aligns the cells of rows in columns. The last cell of a row may have any length. */
export function table(rows: readonly (readonly SafeText[])[]): SafeText {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, width(cell));
  const lines = rows.map((row) => {
    const last = row.findLastIndex((cell) => cell !== "");
    const cells = row.slice(0, last + 1).map((cell, at) => (at === last ? cell : pad(cell, widths[at] ?? 0)));
    return joinSafe(cells, safe`  `);
  });
  return joinSafe(lines);
}

/** Returns a number with its noun, such as `1 server` or `2 servers`. */
export function count(number: number, noun: string): SafeText {
  return safe`${number} ${toSafeLine(noun)}${number === 1 ? safe`` : safe`s`}`;
}

/** Returns the list, or undefined for an empty list: JSON documents leave out empty lists that are rarely filled. */
export function unlessEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** Formats a number with spaces between groups of three digits: `1 234 567`. */
export function spacedNumber(value: number): SafeText {
  return toSafeLine(value.toLocaleString("en-US").replaceAll(",", " "));
}

function pad(cell: SafeText, size: number): SafeText {
  return safe`${cell}${repeatSafe(safe` `, size - width(cell))}`;
}

// Formats an error as text and as JSON.

type Told = Pick<HostError, "code" | "message"> & { readonly next?: string | undefined };

/** An error in `--json` documents. `next` is the suggested next step. */
export interface ErrorDocument {
  readonly code: HostError["code"];
  readonly message: string;
  readonly next?: string;
}

/** Returns the message, with the next step on a second line. */
export function errorLines({ message, next }: Omit<Told, "code">): SafeText {
  return next === undefined ? toSafeLine(message) : safe`${toSafeLine(message)}\n  next: ${toSafeLine(next)}`;
}

/** Returns the error as it appears in `--json` documents. */
export function errorDocument({ code, message, next }: Told): ErrorDocument {
  return { code, message, next };
}
