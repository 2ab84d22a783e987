/**
 * Wraps text to the width of a terminal. Without a terminal nothing is wrapped, so that `grep` finds complete lines.
 */

import { stripVTControlCharacters } from "node:util";
import { joinSafe, repeatSafe, type SafeText, safe, sliceSafe, splitSafe } from "@fairlead/core/text/safe-text";
import type { Io } from "../shell/verb.ts";

/** The width of lines, and the text before the first line (`indent`). */
interface Layout {
  readonly columns: number;
  readonly indent: SafeText;
  /** The text before the second and all later lines. */
  readonly hanging: SafeText;
}

const narrowest = 40;

/**
 * Returns the width at which lines wrap, in columns: that of the terminal (80 if unknown), but at least 40. Without a
 * terminal, lines do not wrap.
 */
export function columnsOf({ isTTY, columns }: Pick<Io["stdout"], "isTTY" | "columns">): number {
  if (isTTY !== true) return Number.POSITIVE_INFINITY;
  return Math.max(columns || 80, narrowest);
}

/** Joins pieces with spaces and wraps between pieces. Breaks a piece only if it is longer than a whole line. */
export function fill(pieces: readonly SafeText[], { columns, indent, hanging }: Layout): readonly SafeText[] {
  if (columns === Number.POSITIVE_INFINITY) return [safe`${indent}${joinSafe(pieces, safe` `)}`];
  const lines: SafeText[] = [];
  let line = indent;
  let used = width(indent);
  let isFresh = true;

  function breakLine(): void {
    if (isFresh) return;
    lines.push(line);
    line = hanging;
    used = width(hanging);
    isFresh = true;
  }

  function add(word: SafeText, size: number): void {
    if (used + 1 + size > columns) breakLine();
    line = isFresh ? safe`${line}${word}` : safe`${line} ${word}`;
    used += isFresh ? size : size + 1;
    isFresh = false;
  }

  for (const piece of pieces) {
    const size = width(piece);
    if (size <= columns - width(hanging)) add(piece, size);
    else {
      breakLine();
      for (const word of words(piece)) add(word, width(word));
    }
  }
  return [...lines, line];
}

/** Splits a text at spaces, for `fill`. */
export function words(text: SafeText): readonly SafeText[] {
  return splitSafe(text, " ");
}

/** Cuts a line at `columns`: after a comma if there is one, otherwise between words. A cut line ends with `…`. */
export function clipWords(line: SafeText, columns: number): SafeText {
  if (width(line) <= columns) return line;
  const ends = [...line.matchAll(/ /g)].map(({ index }) => index);
  const fitting = ends.filter((end) => end > 0 && width(sliceSafe(line, 0, end)) <= columns - 2);
  const end = fitting.findLast((at) => line[at - 1] === ",") ?? fitting.at(-1);
  return end === undefined ? line : safe`${sliceSafe(line, 0, end)} …`;
}

/**
 * A suggested command, which must stay on one line to be copied. It ends before a remark in parentheses, behind `;`, and
 * before the next column.
 */
const command = /(?<=^\s*|: |&& |, or )(?:npx --no -- )?fairlead (?:(?! {2}| \(|; |, then|\)$|\)[.,]).)+/g;
/** A line of a difference. Its columns matter. */
const isDifference = /^\s*[+-] /;

/**
 * Wraps text between words, at `columns`. Never breaks a word or a suggested command. A line goes on below the beginning
 * of its text: after its indent, after a label such as `note:`, or in its last column.
 */
export function wrapMessage(text: SafeText, columns: number): SafeText {
  if (columns === Number.POSITIVE_INFINITY) return text;
  return joinSafe(
    splitSafe(text).flatMap((line) =>
      width(line) <= columns || isDifference.test(line) ? [line] : wrapOne(line, columns),
    ),
  );
}

function wrapOne(line: SafeText, columns: number): readonly SafeText[] {
  const indent = line.search(/\S|$/);
  const hanging = repeatSafe(safe` `, columnOf(line, columns) ?? indent + (/^\s*[\w-]+: /.test(line) ? 2 : 0));
  const lines: SafeText[] = [];
  let shown = sliceSafe(line, 0, indent);
  let isFresh = true;
  for (const { piece, before } of piecesOf(line, indent)) {
    const joined = isFresh ? safe`${shown}${piece}` : safe`${shown}${before}${piece}`;
    // A command that is longer than a line is broken by the terminal in any case.
    const isTooLong = width(piece) > columns - hanging.length;
    if (isFresh || isTooLong || width(joined) <= columns) shown = joined;
    else {
      lines.push(shown);
      shown = safe`${hanging}${piece}`;
    }
    isFresh = false;
  }
  return [...lines, shown];
}

/** Returns where the last column of a row of a table begins. Undefined if the line is no such row. */
function columnOf(line: SafeText, columns: number): number | undefined {
  const gaps = [...line.matchAll(/(?<=\S) {2,}(?=\S)/g)].map(({ 0: gap, index }) => index + gap.length);
  const starts = gaps.map((at) => width(sliceSafe(line, 0, at)));
  return starts.findLast((start) => start <= columns * 0.6);
}

/** Joins the lines of each paragraph, so that they can be wrapped again. Indented lines stay as they are. */
export function joinParagraphs(text: string): string {
  return text.replaceAll(/(?<=^\S.*[^:\n])\n(?=\S)/gm, " ");
}

/** Splits a line into words and commands, each with the spaces before it. */
function piecesOf(line: SafeText, from: number): readonly { readonly piece: SafeText; readonly before: SafeText }[] {
  const commands = [...line.matchAll(command)].map(({ 0: text, index }) => [index, index + text.length] as const);
  const pieces: { piece: SafeText; before: SafeText }[] = [];
  let at = from;
  while (at < line.length) {
    const start = at + sliceSafe(line, at).search(/[^ ]|$/);
    const [, until = start] = commands.find(([begin, last]) => begin <= start && start < last) ?? [];
    const end = wordEnd(line, until);
    pieces.push({ before: sliceSafe(line, at, start), piece: sliceSafe(line, start, end) });
    at = end;
  }
  return pieces;
}

/** The space in a number such as `1 231` is no end of a word. */
const wordGap = /(?<!\d) | (?!\d{3}\b)/;

function wordEnd(line: SafeText, start: number): number {
  const length = sliceSafe(line, start).search(wordGap);
  return length === -1 ? line.length : start + length;
}

// Measures text in terminal columns.

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]/u;

/** Returns the number of terminal columns that a text takes, exact enough to align a table. */
export function width(text: SafeText): number {
  // Nearly all text is ASCII, which needs no table of widths.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  return Array.from(stripVTControlCharacters(text)).reduce((sum, character) => sum + (wide.test(character) ? 2 : 1), 0);
}
