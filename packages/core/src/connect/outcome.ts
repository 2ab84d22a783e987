/**
 * Turns a `WireError` into a `HostError`. Only this file and `connect-failure.ts` read the members of a `WireError`.
 */

import type { WireError } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import { demoName } from "../demo/name.ts";
import { type ErrorCode, HostError } from "../errors.ts";
import { isWireError } from "../net/fetch-failure.ts";
import { toShellWord } from "../text/shell-word.ts";
import { waitWords } from "../text/wait-words.ts";
import { beginning, type ConnectFacts, describeFailure, isForbidden, signInErrorIn } from "./connect-failure.ts";
import { retryAfterPause } from "./retryable.ts";

const invalidParams = -32602;
/** HTTP statuses below 500 that a proxy may send after the server has run the call. */
const unclear: ReadonlySet<number> = new Set([408, 425, 429]);

/** The `HostError` for a failed attempt to connect to a server. */
export function toConnectError(error: unknown, facts: ConnectFacts): HostError {
  if (error instanceof HostError) return error;
  if (!isWireError(error)) return unexpected(error, facts.definition.name, `"${facts.definition.name}"`);
  return describeFailure(error, facts);
}

/** The request that an error message describes. */
export interface FailedRequest {
  readonly serverName: string;
  /** Name of the request in messages, such as `demo.greet`. */
  readonly what: string;
  /** The method of the request. Only `tools/call` can have an effect at the server. */
  readonly method: string;
  /** Explains why the connection ended, for example with the last stderr line. */
  readonly explain?: ((error: unknown) => HostError) | undefined;
}

/**
 * The `HostError` for a failed request. Its code is `lost` if the server may have run the request, but no usable
 * response arrived.
 */
export function toCallError(error: unknown, { serverName, what, method, explain }: FailedRequest): HostError {
  const isCall = method === "tools/call";
  if (!isWireError(error) || error.evidence.unsent === true) return toServerError(error, { serverName, what });
  if (!isLoss(error, isCall)) {
    // After a timeout or a result that is too large, the call may have had its effect.
    const isDoubtful = isCall && (error.code === "timeout" || error.code === "too_large");
    return toServerError(error, { serverName, what }, isDoubtful ? doubt : "");
  }
  const isEnd = error.code === "exited" || error.code === "closed" || error.code === "flooding";
  const explanation =
    isEnd || error.code === "http_status" || error.code === "bad_message" ? explain?.(error) : undefined;
  const { evidence } = explanation ?? {};
  const end = isEnd ? explanation : undefined;
  const said = isEnd || evidence === undefined ? "" : `; response begins ${beginning(evidence)}`;
  const pause = pauseIn(error);
  const why = pause === undefined ? (end?.message ?? error.message) : busyReason(error);
  return new HostError("lost", `${what}: ${why}${said}${doubt}`, {
    serverName,
    // The cause is a `HostError`, because callers do not read a `WireError`.
    cause: end ?? toServerError(error, { serverName, what: `"${serverName}"` }),
    evidence,
    next: isEnd ? `fairlead mcp logs ${toShellWord(serverName)}` : pause === undefined ? undefined : waitFirst(pause),
  });
}

function waitFirst(pause: number): string {
  return `Find out whether the request ran before you repeat it. The server accepts requests again in ${waitWords(pause)}.`;
}

const doubt = "; the request may or may not have run";

/** Whether a request failed before it was sent. In this case the server cannot have run it. */
export function neverLeft({ cause }: HostError): boolean {
  return isWireError(cause) && cause.evidence.unsent === true;
}

/** Whether the server refused the token with 401 and Fairlead cannot get a new token without the user. */
export function needsSignIn({ code, cause }: HostError): boolean {
  return code === "auth_required" && isWireError(cause) && cause.evidence.httpStatus === 401;
}

/** How many milliseconds a busy server (HTTP 429 or 503) asks Fairlead to wait; undefined for any other failure. */
export function pauseAfter({ code, cause }: HostError): number | undefined {
  if (code === "lost" && cause instanceof HostError) return pauseAfter(cause);
  return isWireError(cause) ? pauseIn(cause) : undefined;
}

/** Whether the server responds, but refuses requests for now (HTTP 429, or 503 with `Retry-After`). */
export function isServerBusy(error: HostError): boolean {
  const { cause } = error.code === "lost" && error.cause instanceof HostError ? error.cause : error;
  return pauseAfter(error) !== undefined || (isWireError(cause) && cause.evidence.httpStatus === 429);
}

/**
 * The `HostError` for a failed server, or for a request that certainly had no effect.
 *
 * @param consequence A text that is appended to the message.
 */
export function toServerError(
  error: unknown,
  { serverName, what }: Pick<FailedRequest, "serverName" | "what">,
  consequence = "",
): HostError {
  if (error instanceof HostError) return error;
  if (!isWireError(error)) return unexpected(error, serverName, what);
  const pause = pauseIn(error);
  if (pause !== undefined) return busyError(error, pause, { serverName, what });
  const own = signInErrorIn(error);
  const code = own?.code ?? codeOf(error);
  const next = own ? own.next : adviceFor(code, serverName);
  // Removes the method from the message, because `what` already names the request.
  const why = error.message.replace(`${error.evidence.step} timed out: `, "");
  const message = code === "call_timeout" ? `${what} timed out: ${why}` : `${what}: ${own?.message ?? error.message}`;
  return new HostError(code, `${message}${consequence}`, { serverName, cause: error, next });
}

function adviceFor(code: ErrorCode, serverName: string): string | undefined {
  // The built-in demo server has no entry in the settings.
  if (code === "call_timeout" && serverName === demoName) return "give the call a longer --timeout";
  if (code === "call_timeout")
    return `raise "timeout" of "${serverName}" in settings.json, or give the call a longer --timeout`;
  if (code === "too_large") return "Request a smaller result.";
  return code === "auth_required" ? `fairlead mcp auth ${toShellWord(serverName)}` : undefined;
}

function busyError(
  cause: WireError,
  pause: number,
  { serverName, what }: Pick<FailedRequest, "serverName" | "what">,
): HostError {
  const next = `Try again in ${waitWords(pause)}.`;
  return new HostError("http_status", `${what}: ${busyReason(cause)}`, { serverName, cause, next });
}

function busyReason({ evidence: { httpStatus } }: WireError): string {
  return `the server is busy (HTTP ${httpStatus})`;
}

function pauseIn({ code, evidence: { httpStatus, retryAfter } }: WireError): number | undefined {
  const isRefusal = code === "http_status" || code === "rpc";
  const isBusy = isRefusal && (httpStatus === 429 || httpStatus === 503) && retryAfter !== undefined;
  return isBusy ? retryAfterPause(retryAfter, Date.now()) : undefined;
}

function unexpected(error: unknown, serverName: string, what: string): HostError {
  const why = errorMessage(error);
  return new HostError("internal", `${what} failed: ${why}`, { serverName, cause: error });
}

/** Whether the server or the network failed before a usable response arrived. In this case the call may have run. */
function isLoss(error: WireError, isCall: boolean): boolean {
  const { code, evidence } = error;
  const { httpStatus = 0 } = evidence;
  switch (code) {
    case "exited":
    case "closed":
    case "flooding":
    case "unreachable":
    case "session_expired":
    case "stream_lost":
    case "task_lost":
      return true;
    case "http_status":
      if (!isCall && pauseIn(error) !== undefined) return false;
      // The server may have crashed while it ran the request, or a proxy may have answered instead of the server.
      return httpStatus >= 500 || (isCall && (isRedirect(httpStatus) || unclear.has(httpStatus)));
    case "bad_message":
    case "send_blocked":
      // The server may have run the call before it sent an invalid response or stopped reading.
      return isCall;
    case "rpc":
      // A proxy may send a JSON-RPC error with status 429 or 503 after the server ran the call.
      return isCall && pauseIn(error) !== undefined;
    case "cancelled":
    case "timeout":
    case "spawn_failed":
    case "tls":
    case "proxy":
    case "unauthorized":
    case "too_large":
    case "unanswered":
      return false;
  }
}

/** Whether the status is a redirect. A server may run a call and then redirect the client to the result. */
function isRedirect(httpStatus: number): boolean {
  return httpStatus >= 300 && httpStatus < 400;
}

function codeOf(error: WireError): ErrorCode {
  const { code, evidence } = error;
  switch (code) {
    case "cancelled":
    case "unreachable":
    case "tls":
    case "proxy":
    case "http_status":
    case "flooding":
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
