/** Where a server stands, and what that means for a call into it. Pure. */

import { type ErrorCode, HostError } from "../errors.ts";
import type { ServerState } from "../events.ts";
import { toShellWord } from "../text/shell-word.ts";
import type { Admission } from "../trust/admit.ts";

/** Where a configured server stands at first. */
export function toState(name: string, admission: Admission): ServerState {
  if (admission.status !== "admitted") return { name, ...admission };
  return {
    name,
    status: "disconnected",
    reason: "lazy",
    message: `"${name}" may start, but this version of Fairlead cannot connect to servers yet`,
    next: `fairlead mcp get ${toShellWord(name)}`,
  };
}

/** Why a call into a server that is not connected goes nowhere. */
export function refusal(state: ServerState): HostError {
  const { name: serverName, status } = state;
  switch (status) {
    case "blocked":
    case "disabled":
    case "disconnected": {
      const { message = `"${serverName}" is ${status}`, next } = state;
      return new HostError(codeOf(state.reason), message, { serverName, ...(next === undefined ? {} : { next }) });
    }
    case "connecting":
    case "connected":
    case "disconnecting":
    case "needs_auth":
      return new HostError("internal", `"${serverName}" is ${status}`, { serverName });
  }
}

type Reason = Extract<ServerState, { readonly reason: string }>["reason"];

function codeOf(reason: Reason): ErrorCode {
  if (reason === "lazy") return "unreachable";
  // A person or an administrator decided: the message names the setting.
  if (reason === "user" || reason === "not_allowed" || reason === "excluded") return "denied";
  return reason;
}
