/** Formats untrusted text as lines, for reading or for decisions. Pure functions. */

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

/** Formats text for reading: wrapped between words. */
export function readingLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return rowsOf(text).flatMap((row) => wrapLine([span(row, style)], width));
}

/** Formats text whose columns matter, such as program output: broken only at the width. */
export function outputLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return rowsOf(text).flatMap((row) => breakLine([span(row, style)], width));
}

/** Formats the output of a Fairlead command: wrapped between words. Continuation rows keep the indent. */
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

/** Formats text for a decision: nothing is left out, and nothing is invisible. */
export function decisionLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return text.split("\n").flatMap((row) => breakLine([span(toDecisionText(row), style)], width));
}

/** Matches a run of spaces that is long enough to push text out of sight. */
const longBlank = / {25,}/g;

export function toDecisionText(row: string): SafeText {
  // `toVisibleLine` marks only long runs of spaces. On a narrow screen, short runs can hide text too.
  return replaceSafe(toVisibleLine(row), longBlank, (run) => safe` ⟨×${run.length}⟩`);
}

/**
 * Formats JSON with all characters that are sent. A new row starts after each `\n` in a string, so that a text of many
 * lines is readable.
 */
export function jsonLines(value: unknown, width: number): readonly Line[] {
  const json = writeJson(value, 2);
  const broken = json.replaceAll(/\\(.)/gs, (all, letter: string) => (letter === "n" ? `${all}\n` : all));
  return decisionLines(broken, width);
}

/** Puts a bar before untrusted lines, so that they cannot imitate Fairlead's own lines. */
export function quoted(lines: readonly Line[]): readonly Line[] {
  return lines.map((line) => [span(safe`▏ `, { isDim: true }), ...line]);
}

/** Number of columns that `quoted` adds to a line. */
export const quoteColumns = 2;
