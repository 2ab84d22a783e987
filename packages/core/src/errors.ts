/** The error class of the host, with its codes and their exit codes. */

const exitCodes = {
  usage: 2,
  server_unknown: 2,
  tool_unknown: 2,
  arguments_invalid: 2,
  not_found: 2,
  settings_invalid: 3,
  variable_unset: 3,
  command_not_found: 4,
  server_exited: 4,
  not_mcp: 4,
  connect_timeout: 4,
  unreachable: 4,
  tls: 4,
  proxy: 4,
  http_status: 4,
  protocol: 4,
  no_capabilities: 4,
  start_limit: 4,
  flooding: 4,
  sandbox_unavailable: 4,
  auth_required: 5,
  auth_failed: 5,
  denied: 6,
  changed: 6,
  awaiting_approval: 6,
  untrusted_folder: 6,
  tool_error: 7,
  call_timeout: 1,
  lost: 1,
  busy: 1,
  too_large: 1,
  quarantined: 1,
  diverged: 1,
  model: 1,
  internal: 1,
  cancelled: 130,
} as const;

/** The codes that a `HostError` can have. `exitCodeOf` maps each code to an exit code. */
export type ErrorCode = keyof typeof exitCodes;

/** All error codes. */
export const errorCodes: readonly ErrorCode[] = Object.keys(exitCodes) as ErrorCode[];

/** The exit code of the `fairlead` command for an error code. */
export function exitCodeOf(code: ErrorCode): number {
  return exitCodes[code];
}

/** Options of a `HostError`. */
export interface HostErrorOptions extends ErrorOptions {
  readonly serverName?: string;
  /** The next step for the user, as one sentence or one command. */
  readonly next?: string;
  /**
   * The end of the server's stderr, or the first bytes of its response. May have several lines. Escape it before
   * printing.
   */
  readonly evidence?: string;
  /** Milliseconds after which the same request may succeed, for `busy`. */
  readonly retryAfter?: number;
}

/**
 * The only class of errors that the host throws. It has a stable `code`, a sentence that says what happened, and in
 * `next` what to do about it.
 *
 * @example
 * ```ts
 * import { createHost, HostError } from "@fairlead/core";
 *
 * const host = await createHost();
 * try {
 *   await host.call("files", "read", { path: "a.txt" });
 * } catch (error) {
 *   if (error instanceof HostError && error.code === "denied") console.error(error.message, error.next);
 * }
 * ```
 */
export class HostError extends Error {
  override readonly name = "HostError";
  readonly code: ErrorCode;
  readonly serverName: string | undefined;
  readonly next: string | undefined;
  readonly evidence: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, options: HostErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.serverName = options.serverName;
    this.next = options.next;
    this.evidence = options.evidence;
    this.retryAfter = options.retryAfter;
  }
}
