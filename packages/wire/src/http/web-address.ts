/** Parses http and https URLs. */

import { parseUrl } from "../shapes/text.ts";

/** The URL; undefined if it is invalid or not http(s). Errors must not show an invalid one: it may contain a password. */
export function webAddress(text: string): URL | undefined {
  const url = parseUrl(text);
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}
