/** Text in lines that fit a terminal; elsewhere nothing is broken that was not broken before, so that lines can be searched. */

import { joinSafe, type SafeText, safe, splitSafe } from "@fairlead/core/text/safe-text";
import type { Io } from "../shell/io.ts";
import { width } from "./output.ts";

export interface Layout {
  /** What fits on a line. */
  readonly columns: number;
  /** Before the first line. */
  readonly indent: SafeText;
  /** Before the others. */
  readonly hanging: SafeText;
}

const narrowest = 40;

/** A terminal may not know its width, or say 0. */
export function columnsOf({ stdout }: Pick<Io, "stdout">): number {
  if (stdout.isTTY !== true) return Number.POSITIVE_INFINITY;
  return Math.max(stdout.columns || 80, narrowest);
}

/** Pieces with a space between them. A line is broken between pieces; within one only where it does not fit a line of its own. */
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

export function words(text: SafeText): readonly SafeText[] {
  return splitSafe(text, " ");
}
