/** Limits and times for an HTTP listener. */

/** Limits of one request, and of one owner. An owner is the name that `admit` gives to a client. */
export interface HttpLimits {
  /** Maximum size of the body of a POST request, in bytes. */
  readonly bodyBytes: number;
  /** Maximum size of all headers of one request, in bytes. */
  readonly headerBytes: number;
  /**
   * Maximum number of sessions of one owner. At the limit, a new session replaces the idle session that was unused for
   * longest. If none is idle, the new session is refused.
   */
  readonly sessions: number;
  /** Maximum number of open requests of one owner. */
  readonly requests: number;
  /** Maximum number of open GET streams and `subscriptions/listen` requests of one owner. */
  readonly streams: number;
  /** Maximum number of bytes that wait for a slow client. With more bytes, the stream is closed. */
  readonly unsentBytes: number;
}

/** Time limits and intervals of an HTTP listener, in milliseconds. */
export interface HttpTimes {
  /** Maximum time for receiving one request. */
  readonly receive: number;
  /** A session without an open request or stream ends after this time. */
  readonly idle: number;
  /** Time between two comments in an event stream. Clients ignore comments, but comments keep the connection open. */
  readonly keepAlive: number;
}

/** Limits for a listener that sets none: 4 MiB for a body, 32 sessions and 32 requests for an owner. */
export const defaultHttpLimits: HttpLimits = {
  bodyBytes: 4 * 1024 * 1024,
  headerBytes: 16 * 1024,
  sessions: 32,
  requests: 32,
  streams: 8,
  unsentBytes: 64 * 1024 * 1024,
};

/** Times for a listener that sets none. A session ends after 30 minutes without use. */
export const defaultHttpTimes: HttpTimes = { receive: 10_000, idle: 30 * 60_000, keepAlive: 15_000 };
