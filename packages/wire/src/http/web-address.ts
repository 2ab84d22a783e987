/** Addresses that can be spoken to over HTTP. */

import { parseUrl } from "../shapes/text.ts";

/** The address if it is one; what is wrong with another is not shown: it may hold a password. */
export function webAddress(text: string): URL | undefined {
  const url = parseUrl(text);
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}
