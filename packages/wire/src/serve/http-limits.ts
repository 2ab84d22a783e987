/** Limits and times for an HTTP listener. */

/** Limits for each request, and for each owner. The owner is the name that `admit` gives to the sender of a request. */
export interface HttpLimits {
  /** Maximum size of the body of a POST request, in bytes. */
  readonly bodyBytes: number;
  /** Maximum size of all headers of one request, in bytes. */
  readonly headerBytes: number;
  /** Maximum number of sessions of one owner. A new session replaces the session that was idle longest. */
  readonly sessions: number;
  /** Maximum number of open requests of one owner. */
  readonly requests: number;
  /** Maximum number of open GET streams of one owner. */
  readonly streams: number;
  /** If a client reads a stream so slowly that more bytes than this wait, the stream is closed. */
  readonly unsentBytes: number;
}

/** Time limits and intervals of an HTTP listener, in milliseconds. */
export interface HttpTimes {
  /** Maximum time for receiving one request. */
  readonly receive: number;
  /** How long a session is kept without an open request or stream. */
  readonly idle: number;
  /** Time between two comments (lines that clients ignore) in an event stream. They keep the stream open. */
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
