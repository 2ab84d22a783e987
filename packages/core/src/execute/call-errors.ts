/** Errors of a call that the executor did not send, or did not send again: it was cancelled, or its tool changed. */

import { HostError } from "../errors.ts";
import { toShellWord } from "../text/shell-word.ts";

/** The error of a cancelled call. `when` ends the message, as in "files.read was cancelled before it was sent". */
export function callCancelled(
  serverName: string,
  tool: string,
  { reason }: AbortSignal,
  when = "before it was sent",
): HostError {
  const message = `${serverName}.${tool} was cancelled ${when}`;
  return new HostError("cancelled", message, { serverName, cause: reason });
}

/** The error of a call that was not sent, because the tool's definition changed while the call waited. */
export function toolChanged(serverName: string, tool: string): HostError {
  const message = `${serverName}.${tool} was not called: its definition changed while the call waited`;
  return new HostError("changed", message, { serverName, next: `fairlead tools ${toShellWord(serverName)}` });
}
