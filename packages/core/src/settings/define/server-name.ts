/** What may be the name of a server: a name that looks like another one is a trap wherever a person decides. */

import { hasUnseen } from "../../text/unseen.ts";

/** Undefined for a good name; else what completes "the name …". */
export function whyNotServerName(name: string): string | undefined {
  if (name.trim() === "") return "is blank";
  return hasUnseen(name) ? "has characters that cannot be seen" : undefined;
}
