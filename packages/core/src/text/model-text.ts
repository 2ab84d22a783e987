/** Foreign text for a model: what a person would not see is left out, so that both read the same. */

import { invisible } from "./unseen.ts";

const unusual = /[^\n\t -~]/;
const control = /(?![\n\r\t])\p{Cc}/gu;
const loneSurrogate = /\p{Cs}/gu;

export function toModelText(text: string): string {
  if (!unusual.test(text)) return text;
  return withoutColours(text).replaceAll(control, "").replaceAll(invisible, "").replaceAll(loneSurrogate, "\ufffd");
}

/** Takes out the colours that programs write into their output; every other escape sequence is left to the gate. */
const colour = new RegExp(`${String.fromCharCode(27)}\\[[\\d;:]*m`, "g");

export function withoutColours(text: string): string {
  return text.replaceAll(colour, "");
}
