/** Whether what went wrong with a server may be over by itself some time later. */

import type { WireError } from "@fairlead/wire";
import { type ErrorCode, HostError } from "../errors.ts";

export type RetryClass =
  /** It is there, but has forgotten the conversation. */
  | { readonly kind: "session" }
  /** It cannot be reached, or says that it has no time now. */
  | { readonly kind: "outage"; readonly retryAfter?: string }
  /** It ended, hangs, or makes no sense: another start may go better, if one went well before. */
  | { readonly kind: "crash" }
  /** Somebody has to do something first. */
  | { readonly kind: "never" };

/** Too many requests, and what gateways answer for a server that is being restarted. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const proxyWantsCredentials = 407;
/** What may go wrong with a server that was well before. */
const crashes: ReadonlySet<ErrorCode> = new Set([
  "server_exited",
  "connect_timeout",
  "not_mcp",
  "protocol",
  "http_status",
  "tls",
  "too_large",
]);

export function retryClassOf(error: HostError, { isProgram }: { readonly isProgram: boolean }): RetryClass {
  const { code, cause } = error;
  // A status is an answer: who gives it is there, whatever became of the request.
  if (code === "lost" && cause instanceof HostError && cause.code === "http_status")
    return retryClassOf(cause, { isProgram });
  const { httpStatus = 0, retryAfter } = isWireError(cause) ? cause.evidence : {};
  if (isWireError(cause) && cause.code === "session_expired") return { kind: "session" };
  if (passing.has(httpStatus)) return { kind: "outage", ...(retryAfter !== undefined && { retryAfter }) };
  if (code === "unreachable" || code === "lost") return { kind: "outage" };
  if (code === "proxy") return { kind: httpStatus === proxyWantsCredentials ? "never" : "outage" };
  if (code === "connect_timeout" && !isProgram) return { kind: "outage" };
  return { kind: crashes.has(code) ? "crash" : "never" };
}

/** By its name: the class itself would load the engine. */
function isWireError(error: unknown): error is WireError {
  return error instanceof Error && error.name === "WireError";
}
