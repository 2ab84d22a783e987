/** Limits and times of an HTTP listener. */

/** What one owner may use at the same time, and the largest request. */
export interface HttpLimits {
  /** The largest body of a POST, in bytes. */
  readonly bodyBytes: number;
  /** The headers of one request together, in bytes. */
  readonly headerBytes: number;
  /** Sessions of one owner; the one that was idle longest makes room. */
  readonly sessions: number;
  /** Open requests of one owner. */
  readonly requests: number;
  /** Open streams of one owner that belong to no request, or to a subscription. */
  readonly streams: number;
  /** Bytes that wait for a client that does not read its stream; with more, the stream is cut. */
  readonly unsentBytes: number;
}

/** Times in milliseconds. */
export interface HttpTimes {
  /** How long a request may take to arrive. */
  readonly receive: number;
  /** How long a session without an open request or stream stays. */
  readonly idle: number;
  /** The pause between the comments that keep a stream alive. */
  readonly keepAlive: number;
}

export const defaultHttpLimits: HttpLimits = {
  bodyBytes: 4 * 1024 * 1024,
  headerBytes: 16 * 1024,
  sessions: 32,
  requests: 32,
  streams: 8,
  unsentBytes: 64 * 1024 * 1024,
};

export const defaultHttpTimes: HttpTimes = { receive: 10_000, idle: 30 * 60_000, keepAlive: 15_000 };
