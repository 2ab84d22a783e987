/**
 * Parses long JSON texts: with one `JSON.parse` if that takes a few milliseconds, otherwise in slices, between which
 * other code can run.
 */

import { parseInSlices, type SliceOptions } from "./sliced-json.ts";

/** Maximum time of one `JSON.parse`, in nanoseconds, as estimated from samples of the text. */
const wholeTime = 40_000_000;
/** The time for reading one character, in nanoseconds. */
const characterTime = 2;
/** The time for making one value, in nanoseconds. */
const valueTime = 100;
const samples = 64;
const sampleLength = 256;

/**
 * Parses the text. Returns undefined if it is not JSON. `JSON.parse` is several times as fast as parsing in slices, but
 * for a text with millions of small values it would block the event loop for seconds.
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
 * Estimates the time that `JSON.parse` takes for the text, in nanoseconds. The samples are at random positions, so
 * that a server cannot hide its small values between them.
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

/** Whether a value may follow the character: a comma, a colon or an opening bracket. */
function precedesValue(character: number): boolean {
  return character === 0x2c || character === 0x3a || character === 0x5b;
}
