/** The text of a field, with the cursor if it has the focus. Pure. */

import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Editor } from "../input/editor.ts";
import { breakLine, type Line, span } from "./line.ts";

/** Most rows of a long text, around the cursor. */
const mostRows = 6;

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
