/** `WireError`, the only error that the wire throws, with its codes and its evidence. */

/** The stable codes of a `WireError`. */
export type WireErrorCode =
  /** The caller aborted its signal. */
  | "cancelled"
  /** There was no response or progress within the timeout, or the total limit was reached. */
  | "timeout"
  /** The connection was closed before or during the request. */
  | "closed"
  /** The command could not be started. */
  | "spawn_failed"
  /** The server's process ended. */
  | "exited"
  /** The server could not be reached, or the connection broke before a response began. */
  | "unreachable"
  | "tls"
  | "proxy"
  /** The server answered with an HTTP status that is not a success. */
  | "http_status"
  /** The server answered 401 or 403, and signing in failed or is not possible. */
  | "unauthorized"
  /** The server no longer knows the session id. The caller must connect again. */
  | "session_expired"
  /** The response stream ended before the response arrived. */
  | "stream_lost"
  /** The server no longer knows the task whose result the caller waits for, or cannot be reached to ask for it. */
  | "task_lost"
  | "too_large"
  /** The server's message is not JSON-RPC, or it violates the protocol. */
  | "bad_message"
  /** The server keeps sending more unrequested output than the limit allows. */
  | "flooding"
  /** The server does not read its stdin. */
  | "send_blocked"
  /** The server asked for input, and the host could not give it or did not answer. */
  | "unanswered"
  /** The server answered with a JSON-RPC error. */
  | "rpc";

/** Facts about a failure, for messages and for decisions such as a retry. */
export interface WireEvidence {
  readonly exitCode?: number;
  readonly signal?: string;
  /** The last lines of the server's stderr, not safe to print. */
  readonly stderr?: string;
  readonly httpStatus?: number;
  readonly contentType?: string;
  readonly wwwAuthenticate?: string;
  readonly retryAfter?: string;
  /** The first bytes of an invalid response, not safe to print. */
  readonly firstBytes?: string;
  /** The JSON-RPC error that the server sent. */
  readonly rpc?: { readonly code: number; readonly data?: unknown };
  /** The step that failed: "spawn", "probe", "initialize" or a method. */
  readonly step?: string;
  /**
   * True if Fairlead did not parse a message, because the parsed values would take too much memory. The message itself
   * was within the size limit.
   */
  readonly overMemory?: boolean;
  /** True if the server certainly did not process the message, so that the caller can send it again. */
  readonly unsent?: boolean;
}

/** A failure of the connection, the protocol or one request. */
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
