/** From what went wrong on the wire to the host's own words: the one place that looks inside a `WireError`. */

import { WireError } from "@fairlead/wire";
import { type ErrorCode, HostError } from "../errors.ts";

/** JSON-RPC's "invalid params". */
const invalidParams = -32602;
const longer = 'if it needs longer, raise "timeout" in its settings, or --timeout for one call';

/** `what` names the thing that failed: `demo.greet`, or a server. */
export function toHostError(
  error: unknown,
  { serverName, what }: { readonly serverName: string; readonly what: string },
): HostError {
  if (error instanceof HostError) return error;
  if (!(error instanceof WireError))
    return new HostError("internal", `${what} failed: ${error instanceof Error ? error.message : String(error)}`, {
      serverName,
      cause: error,
    });
  const code = codeOf(error);
  return new HostError(code, `${what}: ${error.message}`, {
    serverName,
    cause: error,
    ...(code === "call_timeout" && { next: longer }),
  });
}

function codeOf({ code, evidence }: WireError): ErrorCode {
  switch (code) {
    case "cancelled":
    case "unreachable":
    case "tls":
    case "proxy":
    case "http_status":
    case "too_large":
      return code;
    case "timeout":
      return "call_timeout";
    case "closed":
    case "session_expired":
    case "stream_lost":
    case "send_blocked":
      return "lost";
    case "spawn_failed":
      return "command_not_found";
    case "exited":
      return "server_exited";
    case "unauthorized":
      return "auth_required";
    case "bad_message":
      return "protocol";
    case "rpc":
      return evidence.rpc?.code === invalidParams ? "arguments_invalid" : "tool_error";
  }
}
