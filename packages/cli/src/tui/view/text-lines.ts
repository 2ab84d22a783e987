/** Foreign text as lines: to be read, or to be decided about. Pure. */

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

/** To be read: broken between words. */
export function readingLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return rowsOf(text).flatMap((row) => wrapLine([span(row, style)], width));
}

/** The same for text whose columns matter, such as the output of a program. */
export function outputLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return rowsOf(text).flatMap((row) => breakLine([span(row, style)], width));
}

/** What a command of ours says: broken between words, and what goes on begins where its row began. */
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

/** To be decided about: nothing is left out, nothing is invisible, every line of it in its own rows. */
export function decisionLines(text: string, width: number, style?: SpanStyle): readonly Line[] {
  return text.split("\n").flatMap((row) => breakLine([span(toDecisionText(row), style)], width));
}

/** So many blanks, and what follows is easily overlooked. */
const longBlank = / {25,}/g;

export function toDecisionText(row: string): SafeText {
  // The gate counts blanks where they are very many; on a narrow screen fewer are enough to push something out of sight.
  return replaceSafe(toVisibleLine(row), longBlank, (run) => safe` ⟨×${run.length}⟩`);
}

/**
 * JSON as it is going to be sent. A line break within a text is also one here, after its `\n`: what is written in many lines
 * can be read in many lines, and still nothing in it can pass for the end of the text.
 */
export function jsonLines(value: unknown, width: number): readonly Line[] {
  const json = writeJson(value, 2);
  const broken = json.replaceAll(/\\(.)/gs, (all, letter: string) => (letter === "n" ? `${all}\n` : all));
  return decisionLines(broken, width);
}

/** A heading of ours and foreign text behind a bar: whatever it says, it stands behind it. */
export function quoted(lines: readonly Line[]): readonly Line[] {
  return lines.map((line) => [span(safe`▏ `, { isDim: true }), ...line]);
}

/** What `quoted` takes of the width. */
export const quoteColumns = 2;
