/** Formats a Markdown table as lines: in columns, or as `head: cell` lines if the columns do not fit. */

import { joinSafe, repeatSafe, safe } from "@fairlead/core/text/safe-text";
import { type Line, lineColumns, span, wrapLine } from "../line.ts";

const gap = 3;
const narrowestColumn = 6;

/** Returns the lines of a table. The first row is the head. */
export function tableLines(rows: readonly (readonly Line[])[], width: number): readonly Line[] {
  const [head = [], ...body] = rows;
  const wanted = head.map((_, at) => Math.max(1, ...rows.map((row) => lineColumns(row[at] ?? []))));
  const widths = fit(wanted, width - gap * (head.length - 1));
  if (widths === undefined) return body.flatMap((row) => listed(head, row, width));
  const rule: Line = [
    span(
      joinSafe(
        widths.map((each) => repeatSafe(safe`─`, each)),
        safe`─┼─`,
      ),
      { isDim: true },
    ),
  ];
  return [...beside(head.map(bold), widths), rule, ...body.flatMap((row) => beside(row, widths))];
}

function bold(line: Line): Line {
  return line.map((each) => ({ ...each, isBold: true }));
}

/** Returns the column widths. The widest columns shrink first. Returns undefined if the table cannot fit. */
function fit(wanted: readonly number[], room: number): readonly number[] | undefined {
  const widths = [...wanted];
  let excess = widths.reduce((sum, each) => sum + each, 0) - room;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    const now = widths[widest] ?? 0;
    if (now <= narrowestColumn) return undefined;
    const second = Math.max(narrowestColumn, ...widths.filter((_, at) => at !== widest && (widths[at] ?? 0) < now));
    const less = Math.max(1, Math.min(excess, now - second));
    widths[widest] = now - less;
    excess -= less;
  }
  return widths;
}

function beside(cells: readonly Line[], widths: readonly number[]): readonly Line[] {
  const wrapped = widths.map((each, at) => wrapLine(cells[at] ?? [], each));
  const height = Math.max(1, ...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) =>
    widths.flatMap((each, at) => {
      const line = wrapped[at]?.[row] ?? [];
      const isLast = at === widths.length - 1;
      const padding = repeatSafe(safe` `, each - lineColumns(line));
      return isLast ? line : [...line, span(padding), span(safe` │ `, { isDim: true })];
    }),
  );
}

function listed(head: readonly Line[], row: readonly Line[], width: number): readonly Line[] {
  const lines = row.flatMap((cell, at) => wrapLine([...bold(head[at] ?? []), span(safe`: `), ...cell], width));
  return [...lines, []];
}
