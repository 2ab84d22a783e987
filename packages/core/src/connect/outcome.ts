/** From what went wrong on the wire to the host's own words: the one place that looks inside a `WireError`. */

import type { WireError } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import { type ErrorCode, HostError } from "../errors.ts";
import { toShellWord } from "../text/shell-word.ts";
import { beginning, type ConnectFacts, describeFailure, isForbidden, signInErrorIn } from "./connect-failure.ts";
import { retryAfterPause } from "./retry-after.ts";

/** JSON-RPC's "invalid params". */
const invalidParams = -32602;
const longer = 'if it needs longer, raise "timeout" in its settings, or --timeout for one call';

/** Why a server could not be connected. */
export function toConnectError(error: unknown, facts: ConnectFacts): HostError {
  if (error instanceof HostError) return error;
  if (!isWireError(error)) return unexpected(error, facts.definition.name, `"${facts.definition.name}"`);
  return describeFailure(error, facts);
}

export interface FailedRequest {
  readonly serverName: string;
  /** Names it: `demo.greet`. */
  readonly what: string;
  /** The end of the server, with what it said last. */
  readonly explain?: ((error: unknown) => HostError) | undefined;
}

/** Why a request failed. One that was sent to a server that is gone since, or broke down, may have been done all the same. */
export function toCallError(error: unknown, { serverName, what, explain }: FailedRequest): HostError {
  if (!isWireError(error) || error.evidence.unsent === true || !isLoss(error))
    return toServerError(error, { serverName, what });
  const isEnd = error.code === "exited" || error.code === "closed";
  const known = isEnd || error.code === "http_status" ? explain?.(error) : undefined;
  const { evidence } = known ?? {};
  const end = isEnd ? known : undefined;
  const said = isEnd || evidence === undefined ? "" : `; it begins ${beginning(evidence)}`;
  return new HostError("lost", `${what}: ${end?.message ?? error.message}${said}; it may or may not have run`, {
    serverName,
    // Its code says how the server ended, for those who do not look inside the wire's errors.
    cause: end ?? toServerError(error, { serverName, what: `"${serverName}"` }),
    ...(evidence !== undefined && { evidence }),
  });
}

/** Whether a request failed before it left, so that the server knows nothing of it. */
export function neverLeft({ cause }: HostError): boolean {
  return isWireError(cause) && cause.evidence.unsent === true;
}

/** Milliseconds after which a request may be sent once more that the server had no time for; undefined for any other failure. */
export function pauseAfter({ cause }: HostError): number | undefined {
  return isWireError(cause) ? pauseIn(cause) : undefined;
}

/** What went wrong with a server, or with a request that certainly did nothing. */
export function toServerError(error: unknown, { serverName, what }: Omit<FailedRequest, "explain">): HostError {
  if (error instanceof HostError) return error;
  if (!isWireError(error)) return unexpected(error, serverName, what);
  const pause = pauseIn(error);
  if (pause !== undefined) return putOff(error, pause, { serverName, what });
  const own = signInErrorIn(error);
  const code = own?.code ?? codeOf(error);
  const next = own ? own.next : adviceFor(code, serverName);
  return new HostError(code, `${what}: ${own?.message ?? error.message}`, {
    serverName,
    cause: error,
    ...(next !== undefined && { next }),
  });
}

function adviceFor(code: ErrorCode, serverName: string): string | undefined {
  if (code === "call_timeout") return longer;
  return code === "auth_required" ? `fairlead mcp auth ${toShellWord(serverName)}` : undefined;
}

function putOff(cause: WireError, pause: number, { serverName, what }: Omit<FailedRequest, "explain">): HostError {
  const seconds = Math.ceil(pause / 1000);
  const message = `${what}: the server has no time for it now (HTTP ${cause.evidence.httpStatus}), so it did not run`;
  return new HostError("http_status", message, { serverName, cause, next: `Try again in ${seconds} s.` });
}

/** A request that was answered once has begun to run: then nothing that comes later puts it off. */
function pauseIn({ evidence: { httpStatus, retryAfter, unsent } }: WireError): number | undefined {
  const isPutOff = unsent === true && (httpStatus === 429 || httpStatus === 503) && retryAfter !== undefined;
  return isPutOff ? retryAfterPause(retryAfter, Date.now()) : undefined;
}

/** By its name: the class itself would load the engine, which a command that connects nothing does not need. */
function isWireError(error: unknown): error is WireError {
  return error instanceof Error && error.name === "WireError";
}

function unexpected(error: unknown, serverName: string, what: string): HostError {
  const why = errorMessage(error);
  return new HostError("internal", `${what} failed: ${why}`, { serverName, cause: error });
}

/** Whether the server, or the way to it, was gone before the answer came. */
function isLoss({ code, evidence: { httpStatus = 0 } }: WireError): boolean {
  switch (code) {
    case "exited":
    case "closed":
    case "unreachable":
    case "session_expired":
    case "stream_lost":
    case "task_lost":
      return true;
    case "http_status":
      // It broke down over it, or somebody on the way did not hear from it in time.
      return httpStatus >= 500;
    case "cancelled":
    case "timeout":
    case "spawn_failed":
    case "tls":
    case "proxy":
    case "unauthorized":
    case "too_large":
    case "bad_message":
    case "send_blocked":
    case "unanswered":
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
    case "task_lost":
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
    case "unanswered":
      return "denied";
    case "rpc":
      return evidence.rpc?.code === invalidParams ? "arguments_invalid" : "tool_error";
  }
}
