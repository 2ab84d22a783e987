/** Lays out a dialog: a title, a body with a bar on its left, and the keys. */

import { safe } from "@fairlead/core/text/safe-text";
import { clampScroll, type Extent } from "../state/scroll.ts";
import { type Colour, clipLine, type Line, lineColumns, span, wrapLine } from "./line.ts";

/** The space for a dialog, in columns and rows. */
export interface Room {
  readonly width: number;
  readonly height: number;
}

/** The content of a dialog, before it is cut to the screen. */
export interface Frame {
  readonly title: Line;
  /** The body, already wrapped to `bodyWidth` columns. */
  readonly body: readonly Row[];
  /** The keys and what they do. Each one stays on one row if it fits. */
  readonly keys: readonly Line[];
  readonly colour: Colour;
  /** The body rows of the focused field, button or option of a form or list. */
  readonly focused?: { readonly from: number; readonly to: number };
}

/**
 * A row of a dialog. `isBare`: without the bar on the left, so that the user can copy the text. The text must not look
 * like part of the frame.
 */
export type Row = Line | { readonly isBare: true; readonly line: Line };

const barColumns = 2;

/** Returns the columns for the body, without the bar on its left. */
export function bodyWidth({ width }: Room): number {
  return Math.max(2, width - barColumns);
}

/** Returns how many body rows there are, and how many fit on the screen. */
export function frameExtent(frame: Frame, { width, height }: Room): Extent {
  const around = 1 + keyRows(frame, width).length;
  const page = Math.max(1, height - around);
  // If the body does not fit, one row says how many rows are hidden.
  const { length } = frame.body;
  return { rows: length, page: length > page ? Math.max(1, page - 1) : page };
}

/** Returns the visible lines of a dialog. `scroll`: index of the first visible body row. */
export function frameLines(frame: Frame, room: Room, scroll: number): readonly Line[] {
  const { title, body, colour } = frame;
  const extent = frameExtent(frame, room);
  const from = clampScroll(scroll, extent);
  const shown = body.slice(from, from + extent.page);
  const below = body.length - from - shown.length;
  const style = { colour } as const;
  return [
    clipLine([span(safe`╭─ `, style), ...title], room.width),
    ...shown.map((row) => ("isBare" in row ? row.line : [span(safe`│ `, style), ...row])),
    ...(from + below > 0 ? [clipLine([span(safe`├─ `, style), ...more(from, below)], room.width)] : []),
    ...keyRows(frame, room.width).map((keys, at) => [span(at === 0 ? safe`╰─ ` : safe`   `, style), ...keys]),
  ];
}

function more(above: number, below: number): Line {
  if (below === 0) return [span(safe`the end; ↑ ${above} rows`)];
  const start = above === 0 ? safe`` : safe`↑ ${above}, `;
  return [span(safe`${start}↓ ${below} more rows`, { isBold: true }), span(safe` (arrows, PgDn)`)];
}

function keyRows({ keys }: Frame, width: number): readonly Line[] {
  const room = Math.max(2, width - 3);
  const rows: Line[] = [];
  for (const key of keys) {
    const last = rows.at(-1);
    const joined = last === undefined ? key : [...last, span(safe` · `, { isDim: true }), ...key];
    if (last !== undefined && lineColumns(joined) <= room) rows[rows.length - 1] = joined;
    else rows.push(...wrapLine(key, room));
  }
  return rows;
}
