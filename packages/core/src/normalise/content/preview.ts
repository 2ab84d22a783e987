/**
 * The preview of a text that is too large for a model. It shows the text's size, beginning and end, and the structure
 * of JSON.
 */

import { isObject, parseJson } from "@fairlead/wire/json";
import { estimateTokens } from "../../text/token-estimate.ts";
import { characterWords, shorten, toLabel } from "./shorten.ts";

/** Maximum characters of a text that Fairlead parses as JSON to describe its structure. */
const mostParsed = 10_000_000;
const longestShape = 1_200;
const mostKeys = 20;
const deepest = 4;

/** The size limits of one preview. */
export interface PreviewOptions {
  /** Maximum characters of the beginning and the end together. */
  readonly characters: number;
  /** Maximum estimated tokens of the beginning and the end together. */
  readonly tokens: number;
  /** The preview contains at least this many characters of the text, even if they have more tokens than `tokens`. */
  readonly atLeast: number;
}

/** Returns the preview, and whether the text is JSON. */
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

/** The keys, types and lengths in a JSON text. Undefined if the text is not JSON. */
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
