/** Untrusted text as lines, for reading or for decisions. Pure. */

import { writeJson } from "@fairlead/core/text/deep-json";
import {
  repeatSafe,
  replaceSafe,
  type SafeText,
  safe,
  sliceSafe,
  toSafeLine,
  toSafeText,
  toVisibleLine,
} from "@fairlead/core/text/safe-text";
import { breakLine, type Line, type SpanStyle, span, wrapLine } from "./line.ts";

/** Text for reading: wrapped between words. */
export function readingLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return rowsOf(text).flatMap((row) => wrapLine([span(row, style)], width));
}

/** Text whose columns matter, such as program output: broken at the width only. */
export function outputLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return rowsOf(text).flatMap((row) => breakLine([span(row, style)], width));
}

/** The output of a Fairlead command: wrapped between words; continuation rows keep the indent. */
export function indentedLines(text: string, width: number): readonly Line[] {
  return rowsOf(text).flatMap((row) => {
    const words = sliceSafe(row, row.search(/\S|$/));
    const indent = Math.min(row.length - words.length, Math.floor(width / 2));
    const blank = span(repeatSafe(safe` `, indent));
    return wrapLine([span(words)], width - indent).map((line) => [blank, ...line]);
  });
}

function rowsOf(text: string): readonly SafeText[] {
  return toSafeText(text)
    .split("\n")
    .map((row) => toSafeLine(row.replaceAll("\t", "    ")));
}

/** Text for a decision: nothing is left out or invisible. */
export function decisionLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return text.split("\n").flatMap((row) => breakLine([span(toDecisionText(row), style)], width));
}

/** A run of spaces long enough to push text out of sight. */
const longBlank = / {25,}/g;

export function toDecisionText(row: string): SafeText {
  // `toVisibleLine` counts longer runs only; on a narrow screen fewer spaces hide text.
  return replaceSafe(toVisibleLine(row), longBlank, (run) => safe` ⟨×${run.length}⟩`);
}

/**
 * JSON exactly as it is sent. A line break follows each `\n` in a string: text of many lines can be read in many lines,
 * and cannot look like the end of the string.
 */
export function jsonLines(value: unknown, width: number): readonly Line[] {
  const json = writeJson(value, 2);
  const broken = json.replaceAll(/\\(.)/gs, (all, letter: string) => (letter === "n" ? `${all}\n` : all));
  return decisionLines(broken, width);
}

/** Puts a bar before untrusted lines, so that they cannot look like Fairlead's own. */
export function quoted(lines: readonly Line[]): readonly Line[] {
  return lines.map((line) => [span(safe`▏ `, { isDim: true }), ...line]);
}

/** Columns that `quoted` adds. */
export const quoteColumns = 2;
