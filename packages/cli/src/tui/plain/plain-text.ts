/**
 * Formats transcript items as lines that are printed once and never redrawn, without box-drawing characters: a screen
 * reader would read each of them aloud.
 */

import { joinSafe, type SafeText, toSafeText } from "@fairlead/core/text/safe-text";
import type { TranscriptItem } from "../state/transcript.ts";
import { callCardLines } from "../view/call-card-lines.ts";
import { itemLines } from "../view/item-lines.ts";
import type { Line } from "../view/line.ts";
import { markdownLines } from "../view/markdown/markdown-lines.ts";

/** Returns the styled lines of an item, at most `width` columns wide. */
export function linesOf(item: TranscriptItem, width: number): readonly Line[] {
  if (item.kind === "answer") return markdownLines(item.text, width);
  // Passes the start time as `now`, so that no elapsed time is shown. A printed line cannot be updated.
  return item.kind === "call" ? callCardLines(item.call, item.call.startedAt ?? 0, width) : itemLines(item, width);
}

/** Returns the item as plain text, without box-drawing characters and styles. */
export function itemText(item: TranscriptItem, width: number): SafeText {
  return joinSafe(linesOf(item, width).map((line) => toSafeText(plainText(line))));
}

/** Matches a piece of a line that consists only of box-drawing characters. */
const drawn = /^[\s─│╭╰├┼▏┃]+$/u;

const replacements: ReadonlyMap<string, string> = new Map([
  ["╭─ ", ""],
  ["├─ ", ""],
  ["╰─ ", ""],
  ["│ ", "  "],
]);

const characters: ReadonlyMap<string, string> = new Map([
  ["─", "-"],
  ["┼", "+"],
  ["│", "|"],
  ["▏", "|"],
  ["┃", ">"],
]);

/** Returns a line as text without styles, box-drawing characters and spaces at its end. */
export function plainText(line: Line): string {
  return line
    .map(({ text }) => (drawn.test(text) ? (replacements.get(text) ?? replaced(text)) : text))
    .join("")
    .trimEnd();
}

function replaced(text: string): string {
  return Array.from(text, (character) => characters.get(character) ?? character).join("");
}
