/** Draws the prompt: the typed text and the cursor. */

import { type SafeText, safe, toSafeText } from "@fairlead/core/text/safe-text";
import type { ReactElement } from "react";
import stringWidth from "string-width";
import type { Editor } from "../input/editor.ts";
import { type Line, span } from "./line.ts";
import { Lines } from "./lines.tsx";

/** What the prompt shows, and the space for it in columns and rows. */
export interface TextInputProps {
  readonly editor: Editor;
  /** Whether the prompt receives the keys. */
  readonly isActive: boolean;
  /** Whether a question has just appeared. For a moment, no key can answer it. */
  readonly isPaused: boolean;
  readonly width: number;
  readonly height: number;
}

/** Columns of the mark before the text: `› `, or `… ` while `isPaused` is set. */
const margin = 2;

/** Draws the prompt. Shows only the rows around the cursor if there are too many. */
export function TextInput({ editor, isActive, isPaused, width, height }: TextInputProps): ReactElement {
  const { rows, above, below } = layoutInput(editor, Math.max(1, width - margin), height);
  const sign = isPaused ? safe`… ` : safe`› `;
  return (
    <Lines
      lines={[
        ...(above > 0 ? [[span(safe`  … ${above} more above`, { isDim: true })]] : []),
        ...rows.map((row, at) => rowLine(row, at + above === 0 ? sign : safe`  `, isActive)),
        ...(below > 0 ? [[span(safe`  … ${below} more below`, { isDim: true })]] : []),
      ]}
    />
  );
}

function rowLine({ before, under, after }: InputRow, sign: SafeText, isActive: boolean): Line {
  return [
    span(sign, { isBold: isActive }),
    span(before),
    ...(under === undefined ? [] : [span(under, { isInverse: isActive })]),
    span(after),
  ];
}

interface InputRow {
  readonly before: SafeText;
  /** The character at the cursor. Absent if the cursor is in another row. */
  readonly under?: SafeText;
  readonly after: SafeText;
}

/** The visible rows of the prompt. */
export interface InputLayout {
  readonly rows: readonly InputRow[];
  /** Number of hidden rows above the visible rows. */
  readonly above: number;
  readonly below: number;
}

const blank = safe` `;
const none = safe``;

/** Breaks the text into rows of `width` columns. Returns at most `most` rows around the cursor. */
export function layoutInput(
  { text, cursor }: Pick<Editor, "text" | "cursor">,
  width: number,
  most: number,
): InputLayout {
  const rows: { before: SafeText; under?: SafeText; after: SafeText }[] = [{ before: none, after: none }];
  let column = 0;
  let cursorRow = 0;

  function breakRow(): void {
    rows.push({ before: none, after: none });
    column = 0;
  }

  function put(shown: SafeText, isUnderCursor: boolean): void {
    const columns = stringWidth(shown);
    if (column + columns > width && column > 0) breakRow();
    const row = rows.at(-1);
    if (row === undefined) return;
    column += columns;
    if (isUnderCursor) {
      row.under = shown;
      cursorRow = rows.length - 1;
    } else if (row.under === undefined) row.before = safe`${row.before}${shown}`;
    else row.after = safe`${row.after}${shown}`;
  }

  // The first Segmenter is slow to create. The first frame has no text and does not need one.
  for (const { segment, index } of text === "" ? [] : new Intl.Segmenter().segment(text)) {
    const isUnderCursor = cursor >= index && cursor < index + segment.length;
    if (segment === "\n" || segment === "\r\n") {
      if (isUnderCursor) put(blank, true);
      breakRow();
    } else put(shownAs(segment), isUnderCursor);
  }
  // After the last character, the cursor is drawn on a space.
  if (cursor >= text.length) put(blank, true);

  const above = Math.max(0, cursorRow - most + 1);
  const shown = rows.slice(above, above + most);
  return { rows: shown, above, below: rows.length - above - shown.length };
}

function shownAs(segment: string): SafeText {
  return segment === "\t" ? safe`    ` : toSafeText(segment);
}
