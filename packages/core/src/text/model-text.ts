/**
 * Prepares foreign text for a model: removes characters that a person would not see, so that the model and the person
 * read the same text.
 */

import { invisible } from "./unseen.ts";

const unusual = /[^\n\t -~]/;
const control = (): RegExp => /(?![\n\r\t])\p{Cc}/gu;
const loneSurrogate = (): RegExp => /\p{Cs}/gu;

/** Returns the text without colours, invisible characters and control characters. Keeps line breaks and tabs. */
export function toModelText(text: string): string {
  if (!unusual.test(text)) return text;
  return withoutColours(text)
    .replaceAll(control(), "")
    .replaceAll(invisible(), "")
    .replaceAll(loneSurrogate(), "\ufffd");
}

/** Matches the colour sequences that programs write into their output. */
const colour = new RegExp(`${String.fromCharCode(27)}\\[[\\d;:]*m`, "g");

/** Removes terminal colour sequences. Leaves all other escape sequences. */
export function withoutColours(text: string): string {
  return text.replaceAll(colour, "");
}
