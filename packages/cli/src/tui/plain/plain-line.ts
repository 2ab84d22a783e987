/**
 * Removes box-drawing characters from a line, because a screen reader would read every bar and corner aloud. Pure
 * functions.
 */

import type { Line } from "../view/line.ts";

/** Matches a span (a piece of a line) that has only box-drawing characters. */
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
