/** Checks server names. Invisible characters are refused, because two different names could look the same. */

import { hasUnseen } from "../../text/unseen.ts";

/** Why the name is invalid, as the end of a sentence that begins with "the name". Undefined for a valid name. */
export function whyNotServerName(name: string): string | undefined {
  if (name.trim() === "") return "is blank";
  return hasUnseen(name) ? "has characters that cannot be seen" : undefined;
}
