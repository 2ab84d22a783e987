/** Formats untrusted text as lines. Text that the user must judge is shown in full, with nothing invisible. */

import { writeJson } from "@fairlead/core/plain-text";
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
import { type Line, type SpanStyle, span, wrapLine, wrapWhole } from "./line.ts";

/** Formats text that the user only reads. Wraps it between words. */
export function readingLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return rowsOf(text).flatMap((row) => wrapLine([span(row, style)], width));
}

/** Formats text whose columns matter, such as program output. Keeps all blanks, and breaks long rows between words. */
export function outputLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return rowsOf(text).flatMap((row) => wrapWhole([span(row, style)], width));
}

/** Formats the output of a Fairlead command. Wraps it between words and keeps the indent. */
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

/**
 * Formats text that the user must judge, for example before a tool runs. Wraps it between words. Nothing is left out or
 * invisible.
 */
export function decisionLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return text.split("\n").flatMap((row) => wrapWhole([span(toDecisionText(row), style)], width));
}

/** So many spaces can push text out of sight. */
const longBlank = / {25,}/g;

/** Makes a row safe to print and shows invisible characters and long runs of spaces. */
export function toDecisionText(row: string): SafeText {
  // `toVisibleLine` marks only very long runs of spaces. On a narrow screen, shorter runs can hide text too.
  return replaceSafe(toVisibleLine(row), longBlank, (run) => safe` ⟨×${run.length}⟩`);
}

/** Formats a value as indented JSON. Starts a new row after each `\n` in a string. */
export function jsonLines(value: unknown, width: number): readonly Line[] {
  const json = writeJson(value, 2);
  const broken = json.replaceAll(/\\(.)/gs, (all, letter: string) => (letter === "n" ? `${all}\n` : all));
  return decisionLines(broken, width);
}

/** Puts a bar before each line, so that untrusted text cannot imitate Fairlead's own lines. */
export function quoted(lines: readonly Line[]): readonly Line[] {
  return lines.map((line) => [span(safe`▏ `, { isDim: true }), ...line]);
}

/** Columns of the bar that `quoted` adds. */
export const quoteColumns = 2;
