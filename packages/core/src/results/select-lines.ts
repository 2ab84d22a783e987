/**
 * Selects lines of a text, up to a number of tokens. Never creates a list of all lines, because a text may be very
 * large. Pure.
 */

import { wholeCharacters } from "../normalise/content/shorten.ts";
import { estimateTokens } from "../text/token-estimate.ts";

/**
 * Maximum characters of a line. A longer line counts as several lines, so that a text without line breaks can be read
 * in parts.
 */
const longestLine = 2_000;

export interface LineWish {
  /** The number of the first line, counted from 1. A negative number counts from the end. Default: 1. */
  readonly from?: number;
  /** Maximum number of lines. */
  readonly lines?: number;
  /** Maximum number of estimated tokens. The first line is selected even if it has more tokens. */
  readonly tokens: number;
}

/** The selected lines, and their position in the whole text. */
export interface SelectedLines {
  readonly text: string;
  /** The numbers of the first and the last selected line. Both are 0 if no line is selected. */
  readonly first: number;
  readonly last: number;
  /** The total number of lines in the text, or of lines that match the search. */
  readonly total: number;
}

/** Returns the selected lines with their line breaks. Consecutive selections, joined, give the whole text. */
export function selectLines(text: string, wish: LineWish): SelectedLines {
  return select(text, wish, {
    total: () => countLines(text),
    visit: (take) => eachLine(text, (start, end) => take(() => text.slice(start, end))),
  });
}

/** Selects lines that contain `needle`. Each returned line begins with its line number in the whole text. */
export function grepLines(text: string, needle: string, wish: LineWish): SelectedLines {
  function visit(take: (line: () => string) => boolean): void {
    let at = text.indexOf(needle);
    eachLine(text, (start, end, number) => {
      if (at === -1) return true;
      if (at >= end) return false;
      at = text.indexOf(needle, end);
      return take(() => `${number}: ${withoutBreak(text.slice(start, end))}\n`);
    });
  }
  let total = 0;
  visit(() => {
    total += 1;
    return false;
  });
  return select(text, wish, { total: () => total, visit });
}

interface Lines {
  readonly total: () => number;
  /** Calls `take` with each line, until `take` returns true. */
  readonly visit: (take: (line: () => string) => boolean) => void;
}

function select(
  text: string,
  { from = 1, lines = Number.POSITIVE_INFINITY, tokens }: LineWish,
  all: Lines,
): SelectedLines {
  const total = text === "" ? 0 : all.total();
  const begin = from < 0 ? Math.max(1, total + 1 + from) : Math.max(1, from);
  const selected: string[] = [];
  let number = 0;
  let left = tokens;
  all.visit((read) => {
    number += 1;
    if (number < begin) return false;
    const line = read();
    left -= estimateTokens(line);
    if (selected.length > 0 && left < 0) return true;
    selected.push(line);
    return selected.length >= lines;
  });
  if (selected.length === 0) return { text: "", first: 0, last: 0, total };
  return { text: selected.join(""), first: begin, last: begin + selected.length - 1, total };
}

function countLines(text: string): number {
  let count = 0;
  eachLine(text, (_start, _end, number) => {
    count = number;
    return false;
  });
  return count;
}

/** Calls `visit` with each line, including its line break, until `visit` returns true. */
function eachLine(text: string, visit: (start: number, end: number, number: number) => boolean): void {
  let afterBreak = 0;
  for (let [start, number] = [0, 1]; start < text.length; number += 1) {
    if (start >= afterBreak) afterBreak = text.indexOf("\n", start) + 1 || text.length;
    const end = Math.min(afterBreak, wholeCharacters(text, start + longestLine));
    if (visit(start, end, number)) return;
    start = end;
  }
}

function withoutBreak(line: string): string {
  return line.replace(/\r?\n$/, "");
}
