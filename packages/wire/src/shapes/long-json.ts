/**
 * Parses long JSON texts. If `JSON.parse` would block the event loop for too long, other code runs while the text is
 * parsed.
 */

import { parseInSlices, type SliceOptions } from "./sliced-json.ts";

/** `JSON.parse` may take this many nanoseconds. A text that needs longer is parsed in slices. */
const wholeTime = 40_000_000;
/** How long `JSON.parse` takes for one character, in nanoseconds. */
const characterTime = 2;
/** How long `JSON.parse` takes for one value, in nanoseconds. */
const valueTime = 100;
const samples = 64;
const sampleLength = 256;

/**
 * Parses the text. Resolves with undefined if it is not JSON.
 *
 * @throws WireError `too_large` if the text is parsed in slices and its values take more than `maxMemory`.
 */
export function parseLongJson(text: string, options?: SliceOptions): Promise<unknown> {
  return parseTime(text) > wholeTime ? parseInSlices(text, options) : parseWhole(text);
}

async function parseWhole(text: string): Promise<unknown> {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Estimates how long `JSON.parse` takes, in nanoseconds, by counting the values in samples of the text. Random
 * positions, because a server could otherwise put most values outside the samples.
 */
function parseTime(text: string): number {
  const length = Math.min(sampleLength, text.length);
  let values = 0;
  for (let sample = 0; sample < samples; sample += 1) {
    const from = Math.floor(Math.random() * (text.length - length));
    for (let at = from; at < from + length; at += 1) if (precedesValue(text.charCodeAt(at))) values += 1;
  }
  return text.length * (characterTime + (valueTime * values) / (samples * length));
}

/** Each comma, colon and `[` comes before a value. */
function precedesValue(character: number): boolean {
  return character === 0x2c || character === 0x3a || character === 0x5b;
}
