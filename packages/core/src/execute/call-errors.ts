/** The errors of a call that the executor did not send. */

import { HostError } from "../errors.ts";
import type { RequestSignal } from "../mcp/unless-aborted.ts";
import { toShellWord } from "../text/shell-word.ts";

/** The error of a call that its caller cancelled. `before`: the step that the call did not reach. */
export function callCancelled(
  serverName: string,
  tool: string,
  { reason }: RequestSignal,
  before = "it was sent",
): HostError {
  const message = `${serverName}.${tool} was cancelled before ${before}`;
  return new HostError("cancelled", message, { serverName, cause: reason });
}

/** The error of a call whose tool has another definition than at the decision. */
export function toolChanged(serverName: string, tool: string): HostError {
  const message = `${serverName}.${tool} was not called: its definition changed while the call waited`;
  return new HostError("changed", message, { serverName, next: `fairlead tools ${toShellWord(serverName)}` });
}
