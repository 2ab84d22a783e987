/** The preview of a text that is too large for a model: its size, its shape if it is JSON, its beginning and its end. */

import { isObject, parseJson } from "@fairlead/wire/json";
import { estimateTokens } from "../../text/token-estimate.ts";
import { characterWords, shorten, toLabel } from "./shorten.ts";

/** The longest text, in characters, that Fairlead parses to describe its JSON shape. */
const mostParsed = 10_000_000;
const longestShape = 1_200;
const mostKeys = 20;
const deepest = 4;

export interface PreviewOptions {
  /** The largest number of characters in the shown beginning and end together. */
  readonly characters: number;
  /** The largest number of estimated tokens in the shown beginning and end together. */
  readonly tokens: number;
  /**
   * The number of characters from the beginning and the end that are shown even if they have more tokens than `tokens`.
   */
  readonly atLeast: number;
}

/** The preview, and whether the text is JSON. */
export function previewText(
  text: string,
  { characters, tokens, atLeast }: PreviewOptions,
): { readonly text: string; readonly isJson: boolean } {
  const shape = jsonShape(text);
  let room = characters;
  while (room > atLeast && estimateTokens(shorten(text, room)) > tokens)
    room = Math.max(atLeast, Math.floor(room * 0.8));
  const size = `${characterWords(text.length)}${shape === undefined ? "" : `, JSON: ${shape}`}`;
  return { text: `[${size}]\n${shorten(text, room)}`, isJson: shape !== undefined };
}

/** The keys, types and lengths in a JSON text; undefined for other texts. */
function jsonShape(text: string): string | undefined {
  if (text.length > mostParsed || !/^\s*[[{]/.test(text.slice(0, 1_000))) return undefined;
  const value = parseJson(text);
  return value === undefined ? undefined : toLabel(shapeOf(value, 1)).slice(0, longestShape);
}

function shapeOf(value: unknown, depth: number): string {
  if (Array.isArray(value)) {
    const first: unknown = value[0];
    return value.length === 0 ? "[]" : `[${value.length} × ${depth < deepest ? shapeOf(first, depth + 1) : "…"}]`;
  }
  if (!isObject(value)) return value === null ? "null" : typeof value;
  const keys = Object.keys(value);
  const shown = keys.slice(0, mostKeys).map((key) => {
    const shape = depth < deepest ? shapeOf(value[key], depth + 1) : "…";
    return `${key.slice(0, 60)}: ${shape}`;
  });
  const more = keys.length > shown.length ? [`${keys.length - shown.length} more keys`] : [];
  return `{${[...shown, ...more].join(", ")}}`;
}
