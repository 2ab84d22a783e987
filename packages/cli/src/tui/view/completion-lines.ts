/** The completion list as lines, with the selection marked. Pure. */

import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { CompletionList } from "../input/completion.ts";
import type { Room } from "./frame.ts";
import { clipLine, columns, type Line, span } from "./line.ts";

const widestLabel = 40;

export function completionLines({ suggestions, selected }: CompletionList, { width, height }: Room): readonly Line[] {
  const isCut = suggestions.length > height;
  const rows = isCut ? Math.max(1, height - 1) : height;
  const from = Math.max(0, Math.min(selected - Math.floor(rows / 2), suggestions.length - rows));
  const shown = suggestions.slice(from, from + rows);
  const labels = shown.map(({ value, label = value }) => toVisibleLine(label));
  const room = Math.min(widestLabel, Math.floor(width / 2), Math.max(0, ...labels.map((label) => columns(label))));
  const lines = shown.map(({ about = "" }, at): Line => {
    const isSelected = from + at === selected;
    const label = clipLine([span(labels[at] ?? safe``, { isBold: isSelected })], room);
    const gap = " ".repeat(Math.max(0, room - label.reduce((sum, { text }) => sum + columns(text), 0)));
    const words = about.split("\n", 1)[0] ?? "";
    return clipLine(
      [
        span(isSelected ? safe`› ` : safe`  `, { isBold: true }),
        ...label,
        span(safe`${toSafeLine(gap)}  `),
        span(toSafeLine(words), { isDim: true }),
      ],
      width,
    );
  });
  const more: Line = [span(safe`  ${selected + 1} of ${suggestions.length}`, { isDim: true })];
  return isCut && height > 1 ? [...lines, clipLine(more, width)] : lines;
}
