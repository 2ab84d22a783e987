/** Checks server names. Invisible characters are refused, because two different names could look the same. */

import { hasUnseen } from "../../text/unseen.ts";

/**
 * Why the name is invalid. The text continues a sentence that begins with "the name". Undefined if the name is valid.
 */
export function whyNotServerName(name: string): string | undefined {
  if (name.trim() === "") return "is blank";
  return hasUnseen(name) ? "has invisible characters" : undefined;
}
