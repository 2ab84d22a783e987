/** Parses http and https URLs. */

import { parseUrl } from "../shapes/text.ts";

/**
 * Parses the URL. Returns undefined if it is invalid or not http(s). Error messages must not contain an invalid URL,
 * because the URL may contain a password.
 */
export function webAddress(text: string): URL | undefined {
  const url = parseUrl(text);
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}
