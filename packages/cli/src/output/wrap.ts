/**
 * Wraps text to the width of a terminal. Without a terminal nothing is wrapped, so that `grep` finds complete lines.
 */

import { joinSafe, type SafeText, safe, splitSafe } from "@fairlead/core/text/safe-text";
import type { Io } from "../shell/io.ts";
import { width } from "./output.ts";

/** The width of lines, and the text before the first line (`indent`). */
export interface Layout {
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
export function columnsOf({ stdout }: Pick<Io, "stdout">): number {
  if (stdout.isTTY !== true) return Number.POSITIVE_INFINITY;
  return Math.max(stdout.columns || 80, narrowest);
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
