/** A line without box drawing: a screen reader would read every bar and corner aloud. Pure. */

import type { Line } from "../view/line.ts";

/** Only whole spans are replaced: Fairlead's own bars and frames are spans of their own, and text stays as it is. */
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

export function plainText(line: Line): string {
  return line
    .map(({ text }) => (drawn.test(text) ? (replacements.get(text) ?? replaced(text)) : text))
    .join("")
    .trimEnd();
}

function replaced(text: string): string {
  return Array.from(text, (character) => characters.get(character) ?? character).join("");
}
