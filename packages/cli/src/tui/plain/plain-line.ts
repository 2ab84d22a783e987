/** Removes box-drawing characters from a line, because a screen reader would read each of them aloud. */

import type { Line } from "../view/line.ts";

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
