/** Everything that can go wrong on the wire, under stable codes and with the evidence at hand. */

export type WireErrorCode =
  | "cancelled"
  | "timeout"
  | "closed"
  | "spawn_failed"
  | "exited"
  | "unreachable"
  | "http_status"
  | "unauthorized"
  | "session_expired"
  | "stream_lost"
  | "too_large"
  | "bad_message"
  | "rpc";

export interface WireEvidence {
  readonly exitCode?: number;
  readonly signal?: string;
  /** The last lines the server wrote to stderr, raw: make them safe before showing them. */
  readonly stderr?: string;
  readonly httpStatus?: number;
  /** The first bytes of an answer that made no sense, raw. */
  readonly firstBytes?: string;
  /** The server's own error, when it answered with one. */
  readonly rpc?: { readonly code: number; readonly data?: unknown };
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
