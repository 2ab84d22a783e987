/**
 * Removes box-drawing characters from a line, because a screen reader would read every bar and corner aloud. Pure
 * functions.
 */

import type { Line } from "../view/line.ts";

/** Matches spans that have only box-drawing characters. Fairlead draws bars and frames as spans of their own. */
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
