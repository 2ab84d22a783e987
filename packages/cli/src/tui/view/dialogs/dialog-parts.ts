/** Parts of dialogs: titles, labelled rows, sections of untrusted text, and keys. Pure functions. */

import { padSafe, repeatSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Editor } from "../../input/editor.ts";
import type { QuestionNumber } from "../../state/questions.ts";
import { breakLine, type Line, type SpanStyle, span, wrapLine } from "../line.ts";
import { decisionLines, quoteColumns, quoted, toDecisionText } from "../text-lines.ts";

/**
 * Formats a title such as `(1 of 3) github asks`. The number comes first, because the end of a long title may be cut.
 */
export function titleLine(words: Line, { index, total }: QuestionNumber): Line {
  return [...(total > 1 ? [span(safe`(${index} of ${total}) `)] : []), ...words];
}

export function nameSpan(name: string): Line[number] {
  return span(toVisibleLine(name), { isBold: true });
}

/** Formats `label  value`, with the value in its own column. On a narrow screen the value is below the label. */
export function labelled(label: SafeText, value: string, width: number): readonly Line[] {
  return beside(label, width, (room) => breakLine([span(toVisibleLine(value))], room));
}

/** Formats `label  value`, with the value wrapped between words. */
export function told(label: SafeText, words: string, width: number): readonly Line[] {
  return beside(label, width, (room) => wrapLine([span(toDecisionText(words))], room));
}

function beside(label: SafeText, width: number, layOut: (room: number) => readonly Line[]): readonly Line[] {
  const indent = width < 40 ? 2 : labelColumns;
  const rows = layOut(width - indent);
  const blank = span(repeatSafe(safe` `, indent));
  const head = span(label, { isDim: true });
  if (indent < labelColumns) return [[head], ...rows.map((row) => [blank, ...row])];
  const [first = [], ...others] = rows;
  return [[{ ...head, text: padSafe(label, labelColumns) }, ...first], ...others.map((row) => [blank, ...row])];
}

const labelColumns = 9;

/** Formats a section: Fairlead's own heading, then untrusted lines with a bar on their left side. */
export function section(heading: SafeText, lines: readonly Line[], width: number, style?: SpanStyle): readonly Line[] {
  return [...wrapLine([span(heading, { isBold: true, ...style })], width), ...quoted(lines)];
}

/** Formats a heading and a text from a server, without leaving out any of it. Returns no lines if the text is empty. */
export function speech(heading: SafeText, text: string, width: number): readonly Line[] {
  return text.trim() === "" ? [] : section(heading, decisionLines(text, width - quoteColumns), width);
}

export function key(letter: SafeText, words: SafeText): Line {
  return [span(letter, { isBold: true }), span(safe` ${words}`)];
}

/**
 * Formats a URL for reading and copying. A URL in plain ASCII starts in the first column. Any other URL has a bar on
 * its left side.
 */
export function addressRows(
  url: string,
  room: { readonly width: number; readonly body: number },
): readonly (Line | { readonly isBare: true; readonly line: Line })[] {
  const text = toVisibleLine(url);
  if (!/^[\x21-\x7e]+$/.test(text)) return quoted(breakLine([span(text)], room.body - quoteColumns));
  return breakLine([span(text, { isUnderlined: true })], room.width).map((line) => ({ isBare: true, line }));
}

const mostRows = 6;

/** Formats the text of a field, with the cursor if the field has the focus. */
export function editorLines({ text, cursor }: Editor, isFocused: boolean, width: number): readonly Line[] {
  if (!isFocused)
    return text === ""
      ? [[span(safe`(empty)`, { isDim: true })]]
      : around(breakLine([span(toVisibleLine(text))], width), 0);
  const under = String.fromCodePoint(text.codePointAt(cursor) ?? 0x20);
  const before = toVisibleLine(text.slice(0, cursor));
  const line = [
    span(before),
    span(toVisibleLine(under), { isInverse: true, isUnderlined: true }),
    span(toVisibleLine(text.slice(cursor + under.length))),
  ];
  return around(breakLine(line, width), breakLine([span(before)], width).length - 1);
}

function around(rows: readonly Line[], row: number): readonly Line[] {
  const from = Math.max(0, Math.min(row - mostRows + 2, rows.length - mostRows));
  return rows.slice(from, from + mostRows);
}
