/**
 * Parses long JSON texts. If `JSON.parse` would take too long, the text is parsed in slices, and other code runs
 * between two slices.
 */

import { parseInSlices, type SliceOptions } from "./sliced-json.ts";

/** If `JSON.parse` would take more than this many nanoseconds, the text is parsed in slices. */
const wholeTime = 40_000_000;
/** The time for reading one character, in nanoseconds. */
const characterTime = 2;
/** The time for making one value, in nanoseconds. */
const valueTime = 100;
const samples = 64;
const sampleLength = 256;

/**
 * Parses the text. Returns undefined if it is not JSON.
 *
 * @throws WireError `too_large` if the values take more than `maxMemory`.
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
 * Estimates the time that `JSON.parse` takes for the text, in nanoseconds. Counts the values in samples of the text.
 * The samples are at random positions, so that a server cannot place most of its values outside of them.
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

/** Whether the character is a comma, a colon or an opening bracket. A value may follow each of them. */
function precedesValue(character: number): boolean {
  return character === 0x2c || character === 0x3a || character === 0x5b;
}
