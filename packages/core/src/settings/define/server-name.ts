/** Checks server names. Invisible characters are refused, because two different names could look the same. */

import { hasUnseen } from "../../text/unseen.ts";

/**
 * Returns why the name is invalid, as the end of a sentence ("the name … has invisible characters"). Undefined if it is
 * valid.
 */
export function whyNotServerName(name: string): string | undefined {
  if (name.trim() === "") return "is blank";
  return hasUnseen(name) ? "has invisible characters" : undefined;
}
