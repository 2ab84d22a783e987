/** Decides whether connecting again can help after a failure. */

import { type ErrorCode, HostError } from "../errors.ts";
import { isWireError } from "../net/fetch-failure.ts";

/** Whether and how Fairlead connects again after a failure. */
export type RetryClass =
  /** The server is running, but its session expired: Fairlead connects again at once. */
  | { readonly kind: "session" }
  /** The server cannot be reached or is busy: Fairlead connects again later. */
  | { readonly kind: "outage"; readonly retryAfter?: string }
  /**
   * The server exited, hangs or sends invalid messages: Fairlead starts the server again if an earlier connection has
   * worked.
   */
  | { readonly kind: "crash" }
  /** A person must change something first, so Fairlead does not connect again. */
  | { readonly kind: "never" };

/** HTTP statuses that mean "too many requests", or that a proxy sends while the server behind it restarts. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const proxyWantsCredentials = 407;
/** Failures that can happen even if the server's settings are correct. */
const crashes: ReadonlySet<ErrorCode> = new Set([
  "server_exited",
  "connect_timeout",
  "not_mcp",
  "protocol",
  "http_status",
  "tls",
  "too_large",
]);

/**
 * Decides whether and how Fairlead connects again after `error`.
 *
 * @param isProgram Whether the server is a stdio program. A program that exceeds the connect timeout counts as crashed.
 */
export function retryClassOf(error: HostError, { isProgram }: { readonly isProgram: boolean }): RetryClass {
  const { code, cause } = error;
  // Uses the HTTP status of a lost request, because it says more than the code `lost`.
  if (code === "lost" && cause instanceof HostError && cause.code === "http_status")
    return retryClassOf(cause, { isProgram });
  const { httpStatus = 0, retryAfter } = isWireError(cause) ? cause.evidence : {};
  if (isWireError(cause) && cause.code === "session_expired") return { kind: "session" };
  if (passing.has(httpStatus)) return { kind: "outage", retryAfter };
  if (code === "unreachable" || code === "lost") return { kind: "outage" };
  if (code === "proxy") return { kind: httpStatus === proxyWantsCredentials ? "never" : "outage" };
  if (code === "connect_timeout" && !isProgram) return { kind: "outage" };
  return { kind: crashes.has(code) ? "crash" : "never" };
}

/**
 * The longest pause in milliseconds that Fairlead accepts from a server: one day. A longer pause is probably a mistake.
 */
export const longestRetryAfter = 86_400_000;

/**
 * How many milliseconds Fairlead should wait according to the header `Retry-After`, between 0 and one day. Undefined if
 * the header contains neither seconds nor a date.
 */
export function retryAfterPause(header: string, now: number): number | undefined {
  const text = header.trim();
  const pause = /^[+-]?\d+(\.\d*)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(pause) ? undefined : Math.min(Math.max(pause, 0), longestRetryAfter);
}
