/**
 * Runs one query on the text of a stored result. This code runs in a worker thread, because a JMESPath expression may
 * need much time and memory.
 */

import { search } from "jmespath";
import { wholeCharacters } from "../normalise/content/shorten.ts";
import { estimateTokens } from "../text/token-estimate.ts";

export interface ResultQuery extends LineWish {
  readonly grep?: string;
  readonly jmespath?: string;
}

/** The outcome of a query, or the reason why it failed. */
export type QueryOutcome =
  | ({ readonly kind: "selected" } & SelectedLines)
  | { readonly kind: "failed"; readonly code: "arguments_invalid" | "too_large"; readonly message: string };

/**
 * Maximum size of a stored result that Fairlead parses as JSON, in bytes. The JSON that a JMESPath expression
 * selects has the same limit.
 */
const mostBytes = 10_000_000;

/** Runs the query: a text search, a JMESPath expression, or else a selection of lines. Never throws. */
export function queryResult(text: string, { grep, jmespath, ...wish }: ResultQuery): QueryOutcome {
  if (grep !== undefined) return { kind: "selected", ...grepLines(text, grep, wish) };
  if (jmespath === undefined) return { kind: "selected", ...selectLines(text, wish) };
  if (Buffer.byteLength(text) > mostBytes)
    return failed("too_large", 'the result is too large for jmespath (10 MB): use "grep", or "from" and "lines"');
  const parsed = parse(text);
  if (parsed === undefined)
    return failed(
      "arguments_invalid",
      'jmespath works only on JSON, and this result is not JSON: use "grep", or "from" and "lines"',
    );
  try {
    const found: unknown = search(parsed.value, jmespath);
    if (!isWithin(found, mostBytes))
      return failed("too_large", "the jmespath expression selects too much: select less");
    return { kind: "selected", ...selectLines(toText(found), wish) };
  } catch (error) {
    return failed("arguments_invalid", `jmespath: ${error instanceof Error ? error.message.slice(0, 300) : "failed"}`);
  }
}

function failed(code: "arguments_invalid" | "too_large", message: string): QueryOutcome {
  return { kind: "failed", code, message };
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * Whether a value can be written as JSON. A JMESPath expression may select `undefined` or an inherited function
 * (`constructor`).
 */
function isJson(value: unknown): boolean {
  return value !== undefined && typeof value !== "function";
}

/** Writes a value as text: a string as it is, a list with one item on each line, any other value as JSON. */
function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((item: unknown) => JSON.stringify(isJson(item) ? item : null)).join("\n");
  return String(JSON.stringify(isJson(value) ? value : null, null, 1));
}

/**
 * Whether the JSON text of a value has at most about `most` bytes. A JMESPath expression can repeat a value so
 * often that its JSON text would fill the memory.
 */
function isWithin(value: unknown, most: number): boolean {
  let left = most;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && left >= 0) {
    const next = waiting.pop();
    left -= typeof next === "string" ? Buffer.byteLength(next) + 2 : 2;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, member] of Object.entries(next)) {
      left -= Buffer.byteLength(key);
      waiting.push(member);
    }
  }
  return left >= 0;
}

/**
 * Maximum characters of a line. A longer line counts as several lines, so that a text without line breaks can be read
 * in parts.
 */
const longestLine = 2_000;

interface LineWish {
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
