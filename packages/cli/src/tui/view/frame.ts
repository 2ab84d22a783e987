/** Lays out the rows of a dialog: a title, a body with a bar on its left side, and the keys. Pure functions. */

import { safe } from "@fairlead/core/text/safe-text";
import { clampScroll, type Extent } from "../state/scroll.ts";
import { type Colour, clipLine, type Line, lineColumns, span, wrapLine } from "./line.ts";

export interface Room {
  readonly width: number;
  readonly height: number;
}

export interface Frame {
  readonly title: Line;
  /** The rows of the body, already wrapped to the width `bodyWidth`. */
  readonly body: readonly Row[];
  /** The keys with their actions. A key is wrapped only if its text is longer than a row. */
  readonly keys: readonly Line[];
  readonly colour: Colour;
}

/**
 * A row of a dialog. A row with `isBare` has no bar, so that the user can copy its text. Such a text must not look like
 * a part of a frame.
 */
export type Row = Line | { readonly isBare: true; readonly line: Line };

const barColumns = 2;

export function bodyWidth({ width }: Room): number {
  return Math.max(2, width - barColumns);
}

export function frameExtent(frame: Frame, { width, height }: Room): Extent {
  const around = 1 + keyRows(frame, width).length;
  const page = Math.max(1, height - around);
  // If rows are hidden, one row shows how many.
  const { length } = frame.body;
  return { rows: length, page: length > page ? Math.max(1, page - 1) : page };
}

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

/** Puts as many keys into each row as fit. */
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
