/** Turns a `WireError` into a `HostError`. Only this file and `connect-failure.ts` look inside a `WireError`. */

import type { WireError } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import { type ErrorCode, HostError } from "../errors.ts";
import { isWireError } from "../net/fetch-failure.ts";
import { toShellWord } from "../text/shell-word.ts";
import { beginning, type ConnectFacts, describeFailure, isForbidden, signInErrorIn } from "./connect-failure.ts";
import { retryAfterPause } from "./retryable.ts";

const invalidParams = -32602;

/** The `HostError` for a server that could not be connected. */
export function toConnectError(error: unknown, facts: ConnectFacts): HostError {
  if (error instanceof HostError) return error;
  if (!isWireError(error)) return unexpected(error, facts.definition.name, `"${facts.definition.name}"`);
  return describeFailure(error, facts);
}

/** The request that an error message is about. */
export interface FailedRequest {
  readonly serverName: string;
  /** Name of the request in messages, such as `demo.greet`. */
  readonly what: string;
  /** Explains why the connection ended, with the last stderr line. */
  readonly explain?: ((error: unknown) => HostError) | undefined;
}

/** The `HostError` for a failed request: `lost` if the connection broke after it was sent, because the server may have run it. */
export function toCallError(error: unknown, { serverName, what, explain }: FailedRequest): HostError {
  if (!isWireError(error) || error.evidence.unsent === true || !isLoss(error))
    return toServerError(error, { serverName, what });
  const isEnd = error.code === "exited" || error.code === "closed";
  const known = isEnd || error.code === "http_status" ? explain?.(error) : undefined;
  const { evidence } = known ?? {};
  const end = isEnd ? known : undefined;
  const said = isEnd || evidence === undefined ? "" : `; response begins ${beginning(evidence)}`;
  return new HostError(
    "lost",
    `${what}: ${end?.message ?? error.message}${said}; the request may or may not have run`,
    {
      serverName,
      // A `HostError` as the cause, so that callers see how the server ended without a `WireError`.
      cause: end ?? toServerError(error, { serverName, what: `"${serverName}"` }),
      ...(evidence !== undefined && { evidence }),
    },
  );
}

/** Whether a request failed before it was sent, so that the server cannot have run it. */
export function neverLeft({ cause }: HostError): boolean {
  return isWireError(cause) && cause.evidence.unsent === true;
}

/** Milliseconds after which a busy server (HTTP 429 or 503) wants the request again; undefined for any other failure. */
export function pauseAfter({ cause }: HostError): number | undefined {
  return isWireError(cause) ? pauseIn(cause) : undefined;
}

/** The `HostError` for a failed server, or for a request that the server did not run. */
export function toServerError(error: unknown, { serverName, what }: Omit<FailedRequest, "explain">): HostError {
  if (error instanceof HostError) return error;
  if (!isWireError(error)) return unexpected(error, serverName, what);
  const pause = pauseIn(error);
  if (pause !== undefined) return busyError(error, pause, { serverName, what });
  const own = signInErrorIn(error);
  const code = own?.code ?? codeOf(error);
  const next = own ? own.next : adviceFor(code, serverName);
  // `what` names the request already, so the method that the wire names is removed.
  const why = error.message.replace(`${error.evidence.step} timed out: `, "");
  const message = code === "call_timeout" ? `${what} timed out: ${why}` : `${what}: ${own?.message ?? error.message}`;
  return new HostError(code, message, {
    serverName,
    cause: error,
    ...(next !== undefined && { next }),
  });
}

function adviceFor(code: ErrorCode, serverName: string): string | undefined {
  if (code === "call_timeout") return `raise "timeout" of "${serverName}" in settings.json, or --timeout of the call`;
  return code === "auth_required" ? `fairlead mcp auth ${toShellWord(serverName)}` : undefined;
}

function busyError(cause: WireError, pause: number, { serverName, what }: Omit<FailedRequest, "explain">): HostError {
  const seconds = Math.ceil(pause / 1000);
  const message = `${what} did not run: the server is busy (HTTP ${cause.evidence.httpStatus})`;
  return new HostError("http_status", message, { serverName, cause, next: `Try again in ${seconds} s.` });
}

/** Only for a request that the server did not start: `unsent` is false as soon as part of a response has arrived. */
function pauseIn({ evidence: { httpStatus, retryAfter, unsent } }: WireError): number | undefined {
  const isBusy = unsent === true && (httpStatus === 429 || httpStatus === 503) && retryAfter !== undefined;
  return isBusy ? retryAfterPause(retryAfter, Date.now()) : undefined;
}

function unexpected(error: unknown, serverName: string, what: string): HostError {
  const why = errorMessage(error);
  return new HostError("internal", `${what} failed: ${why}`, { serverName, cause: error });
}

/** Whether the server or the network failed before the response arrived. */
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
      // The server crashed on the request, or a proxy timed out while waiting for it.
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
