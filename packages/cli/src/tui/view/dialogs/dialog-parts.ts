/** Parts of dialogs: titles, labelled values, texts from servers, and keys. */

import { padSafe, repeatSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Editor } from "../../input/editor.ts";
import type { QuestionNumber } from "../../state/questions.ts";
import { breakLine, type Line, type SpanStyle, span, wrapLine, wrapWhole } from "../line.ts";
import { decisionLines, quoteColumns, quoted, toDecisionText } from "../text-lines.ts";

/** Formats a title such as `(1 of 3) github asks`. The number is first, because a long title is cut at its end. */
export function titleLine(words: Line, { index, total }: QuestionNumber): Line {
  return [...(total > 1 ? [span(safe`(${index} of ${total}) `)] : []), ...words];
}

/** Returns a server's or tool's name in bold, with invisible characters made visible. */
export function nameSpan(name: string): Line[number] {
  return span(toVisibleLine(name), { isBold: true });
}

/**
 * Formats `label  value` in two columns. A long value is broken between words, or at the screen edge. On a narrow screen, the value is
 * below the label.
 */
export function labelled(label: SafeText, value: string, width: number): readonly Line[] {
  return beside(label, width, (room) => wrapWhole([span(toVisibleLine(value))], room));
}

/** Formats `label  text` in two columns. A long text is wrapped between words. */
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

/** Formats a heading by Fairlead, and below it untrusted lines with a bar on the left. */
export function section(heading: SafeText, lines: readonly Line[], width: number, style?: SpanStyle): readonly Line[] {
  return [...wrapLine([span(heading, { isBold: true, ...style })], width), ...quoted(lines)];
}

/** Formats a heading and the whole text of a server. Returns no lines if the text is empty. */
export function speech(heading: SafeText, text: string, width: number): readonly Line[] {
  return text.trim() === "" ? [] : section(heading, decisionLines(text, width - quoteColumns), width);
}

/** Returns a key and what it does, such as `y open in the browser`. */
export function key(letter: SafeText, words: SafeText): Line {
  return [span(letter, { isBold: true }), span(safe` ${words}`)];
}

/**
 * Formats a URL. A URL in plain ASCII has no bar on the left, so that the user can copy it. Other URLs have a bar,
 * because they could imitate other text.
 */
export function addressRows(
  url: string,
  room: { readonly width: number; readonly body: number },
): readonly (Line | { readonly isBare: true; readonly line: Line })[] {
  const text = toVisibleLine(url);
  if (!/^[\x21-\x7e]+$/.test(text)) return quoted(breakLine([span(text)], room.body - quoteColumns));
  return breakLine([span(text, { isUnderlined: true })], room.width).map((line) => ({ isBare: true, line }));
}

/** Formats a text field that has the focus, below its label. */
export function fieldLines(label: SafeText, editor: Editor, width: number): readonly Line[] {
  return [...wrapLine([span(label, { isBold: true })], width), ...editorLines(editor, true, width)];
}

const mostRows = 6;

/** Formats the content of a text field: at most six rows, with the cursor if the field has the focus. */
export function editorLines({ text, cursor }: Editor, isFocused: boolean, width: number): readonly Line[] {
  if (!isFocused)
    return text === ""
      ? [[span(safe`(empty)`, { isDim: true })]]
      : around(wrapWhole([span(toVisibleLine(text))], width), 0);
  const under = String.fromCodePoint(text.codePointAt(cursor) ?? 0x20);
  const line = [
    span(toVisibleLine(text.slice(0, cursor))),
    span(toVisibleLine(under), { isInverse: true, isUnderlined: true }),
    span(toVisibleLine(text.slice(cursor + under.length))),
  ];
  const rows = wrapWhole(line, width);
  return around(
    rows,
    rows.findIndex((row) => row.some(({ isInverse = false }) => isInverse)),
  );
}

function around(rows: readonly Line[], row: number): readonly Line[] {
  const from = Math.max(0, Math.min(row - mostRows + 2, rows.length - mostRows));
  return rows.slice(from, from + mostRows);
}
