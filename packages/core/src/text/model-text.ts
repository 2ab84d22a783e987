/** Foreign text for a model: what a person would not see is left out, so that both read the same. */

import { withoutColours } from "./colours.ts";
import { invisible } from "./unseen.ts";

const unusual = /[^\n\t -~]/;
const control = /(?![\n\r\t])\p{Cc}/gu;
const loneSurrogate = /\p{Cs}/gu;

export function toModelText(text: string): string {
  if (!unusual.test(text)) return text;
  return withoutColours(text).replaceAll(control, "").replaceAll(invisible, "").replaceAll(loneSurrogate, "\ufffd");
}
