/** Parses http and https URLs. */

import { parseUrl } from "../shapes/text.ts";

/**
 * Returns undefined for an invalid URL, or one that is not http(s). Do not print such a URL: it may contain a password.
 */
export function webAddress(text: string): URL | undefined {
  const url = parseUrl(text);
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}
