/** From what went wrong on the wire to the host's own words: the one place that looks inside a `WireError`. */

import type { WireError } from "@fairlead/wire";
import { type ErrorCode, HostError } from "../errors.ts";
import { type ConnectFacts, describeFailure, isForbidden } from "./connect-failure.ts";

/** JSON-RPC's "invalid params". */
const invalidParams = -32602;
const longer = 'if it needs longer, raise "timeout" in its settings, or --timeout for one call';

/** Why a server could not be connected. */
export function toConnectError(error: unknown, facts: ConnectFacts): HostError {
  if (error instanceof HostError) return error;
  if (!isWireError(error)) return unexpected(error, facts.definition.name, `"${facts.definition.name}"`);
  return describeFailure(error, facts);
}

export interface Request {
  readonly serverName: string;
  /** Names it: `demo.greet`. */
  readonly what: string;
  /** The end of the server, with what it said last. */
  readonly explain?: ((error: unknown) => HostError) | undefined;
}

/** Why a request failed. One that was sent to a server that is gone since may have been done all the same. */
export function toCallError(error: unknown, { serverName, what, explain }: Request): HostError {
  if (!isWireError(error) || error.evidence.unsent === true || !isLoss(error))
    return toServerError(error, { serverName, what });
  const isEnd = error.code === "exited" || error.code === "closed";
  const end = isEnd ? explain?.(error) : undefined;
  return new HostError("lost", `${what}: ${end?.message ?? error.message}; it may or may not have run`, {
    serverName,
    cause: error,
    ...(end?.evidence !== undefined && { evidence: end.evidence }),
  });
}

/** What went wrong with a server, or with a request that certainly did nothing. */
export function toServerError(error: unknown, { serverName, what }: Omit<Request, "explain">): HostError {
  if (error instanceof HostError) return error;
  if (!isWireError(error)) return unexpected(error, serverName, what);
  const code = codeOf(error);
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

/** Whether the server, or the way to it, was gone before the answer came. */
function isLoss({ code }: WireError): boolean {
  switch (code) {
    case "exited":
    case "closed":
    case "unreachable":
    case "session_expired":
    case "stream_lost":
      return true;
    case "cancelled":
    case "timeout":
    case "spawn_failed":
    case "tls":
    case "proxy":
    case "http_status":
    case "unauthorized":
    case "too_large":
    case "bad_message":
    case "send_blocked":
    case "rpc":
      return false;
  }
}

function codeOf(error: WireError): ErrorCode {
  const { code, evidence } = error;
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
      return "unreachable";
    case "spawn_failed":
      return "command_not_found";
    case "exited":
      return "server_exited";
    case "unauthorized":
      return isForbidden(error) ? "http_status" : "auth_required";
    case "bad_message":
      return "protocol";
    case "rpc":
      return evidence.rpc?.code === invalidParams ? "arguments_invalid" : "tool_error";
  }
}
