/** Limits and times for an HTTP listener. */

/** Limits on the size of a request, and on the requests of one owner: the name that `admit` gives to their sender. */
export interface HttpLimits {
  /** Maximum size of the body of a POST request, in bytes. */
  readonly bodyBytes: number;
  /** Maximum size of all headers of one request, in bytes. */
  readonly headerBytes: number;
  /** Maximum number of sessions of one owner. A new session replaces the session that was idle longest. */
  readonly sessions: number;
  /** Maximum number of open requests of one owner. */
  readonly requests: number;
  /** Maximum number of open streams of one owner, not counting the streams of single requests. */
  readonly streams: number;
  /** Maximum number of bytes that wait for a client that does not read its stream. Above it, the stream is closed. */
  readonly unsentBytes: number;
}

/** Time limits and intervals of an HTTP listener, in milliseconds. */
export interface HttpTimes {
  /** How long receiving a request may take. */
  readonly receive: number;
  /** How long a session is kept without an open request or stream. */
  readonly idle: number;
  /** Milliseconds between two comments that keep a stream open. */
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
