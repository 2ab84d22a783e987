/** Warnings of this subpath: what a program's operator should know and the caller does not get as an error. */

import { toSafeLine } from "../text/safe-text.ts";

/** Emits a warning of the process. Node prints it to stderr, unless the program handles `warning` events. */
export function warn(message: string, type: "McpDiscoveryWarning" | "McpSignInWarning"): void {
  process.emitWarning(toSafeLine(message), type);
}
