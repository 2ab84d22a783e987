/** From what went wrong on the wire to the host's own words: the one place that looks inside a `WireError`. */

import type { WireError } from "@fairlead/wire";
import { type ErrorCode, HostError } from "../errors.ts";
import { type ConnectFacts, describeFailure } from "./connect-failure.ts";

/** JSON-RPC's "invalid params". */
const invalidParams = -32602;
const longer = 'if it needs longer, raise "timeout" in its settings, or --timeout for one call';

/** Why a server could not be connected. */
export function toConnectError(error: unknown, facts: ConnectFacts): HostError {
  if (error instanceof HostError) return error;
  if (!isWireError(error)) return unexpected(error, facts.definition.name, `"${facts.definition.name}"`);
  return describeFailure(error, facts);
}

/** Why a request failed; `what` names it: `demo.greet`, or a server. */
export function toCallError(
  error: unknown,
  { serverName, what }: { readonly serverName: string; readonly what: string },
): HostError {
  if (error instanceof HostError) return error;
  if (!isWireError(error)) return unexpected(error, serverName, what);
  const code = codeOfCall(error);
  return new HostError(code, `${what}: ${error.message}`, {
    serverName,
    cause: error,
    ...(code === "call_timeout" && { next: longer }),
  });
}

/** By its name: the class itself would load the engine, which a command that connects nothing does not need. */
function isWireError(error: unknown): error is WireError {
  return error instanceof Error && error.name === "WireError";
}

function unexpected(error: unknown, serverName: string, what: string): HostError {
  const why = error instanceof Error ? error.message : String(error);
  return new HostError("internal", `${what} failed: ${why}`, { serverName, cause: error });
}

function codeOfCall({ code, evidence }: WireError): ErrorCode {
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
      return "lost";
    case "send_blocked":
      return "unreachable";
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
