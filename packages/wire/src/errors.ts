/** Everything that can go wrong on the wire, under stable codes and with the evidence at hand. */

export type WireErrorCode =
  /** The caller's signal; never a timeout. */
  | "cancelled"
  /** Silence longer than allowed, or the absolute limit reached. */
  | "timeout"
  /** The conversation was over before or while the request was open. */
  | "closed"
  /** The command could not be started. */
  | "spawn_failed"
  /** The process ended. */
  | "exited"
  /** No connection, or it broke before an answer began. */
  | "unreachable"
  | "tls"
  | "proxy"
  /** An HTTP answer that is no answer to us. */
  | "http_status"
  /** 401 or 403, and nobody signed in. */
  | "unauthorized"
  /** The server forgot the session; a new one is needed. */
  | "session_expired"
  /** The answer's stream ended before the answer. */
  | "stream_lost"
  /** The server has lost sight of the task that the answer was to come from. */
  | "task_lost"
  | "too_large"
  /** Not JSON-RPC, or not what the protocol allows there. */
  | "bad_message"
  /** The server does not take the message off our hands. */
  | "send_blocked"
  /** The server asked back, and the answer is not to be had here: the request ends with that. */
  | "unanswered"
  /** The server answered with a JSON-RPC error. */
  | "rpc";

export interface WireEvidence {
  readonly exitCode?: number;
  readonly signal?: string;
  /** The last lines the server wrote to stderr, raw: make them safe before showing them. */
  readonly stderr?: string;
  readonly httpStatus?: number;
  readonly contentType?: string;
  readonly wwwAuthenticate?: string;
  readonly retryAfter?: string;
  /** The first bytes of an answer that made no sense, raw. */
  readonly firstBytes?: string;
  /** The server's own error, when it answered with one. */
  readonly rpc?: { readonly code: number; readonly data?: unknown };
  /** What was being done: "spawn", "probe", "initialize", a method. */
  readonly step?: string;
  /** True when the message certainly never left, or was turned away before anyone looked at it: safe to repeat. */
  readonly unsent?: boolean;
}

export class WireError extends Error {
  override readonly name = "WireError";
  readonly code: WireErrorCode;
  readonly evidence: WireEvidence;

  constructor(code: WireErrorCode, message: string, evidence: WireEvidence = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.evidence = evidence;
  }
}
