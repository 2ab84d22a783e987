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
  /** Maximum number of open requests of one session, and of all modern requests of one owner. */
  readonly requests: number;
  /** Maximum number of open requests of one owner. */
  readonly ownerRequests: number;
  /** Maximum number of open GET streams and `subscriptions/listen` requests of one owner. */
  readonly streams: number;
  /** Maximum number of connections without an open request, of all clients. With more, the oldest one is closed. */
  readonly unusedConnections: number;
  /**
   * While so many bytes of all responses wait for an owner's client, further results are replaced by errors, and streams
   * are closed.
   */
  readonly unsentBytes: number;
}

/** Time limits and intervals of an HTTP listener, in milliseconds. */
export interface HttpTimes {
  /** Maximum time for receiving one request. */
  readonly receive: number;
  /** A response of which the client has read nothing for this time is cut. */
  readonly unread: number;
  /** A session without an open request or stream ends after this time. */
  readonly idle: number;
  /** Time between two comments in an event stream. Clients ignore comments, but comments keep the connection open. */
  readonly keepAlive: number;
}

/** Limits for a listener that sets none: 4 MiB for a body, 32 sessions for an owner, 32 requests for a session. */
export const defaultHttpLimits: HttpLimits = {
  bodyBytes: 4 * 1024 * 1024,
  headerBytes: 16 * 1024,
  sessions: 32,
  requests: 32,
  ownerRequests: 256,
  streams: 8,
  unusedConnections: 256,
  unsentBytes: 32 * 1024 * 1024,
};

/** Times for a listener that sets none. A session ends after 30 minutes without use. */
export const defaultHttpTimes: HttpTimes = { receive: 10_000, unread: 30_000, idle: 30 * 60_000, keepAlive: 15_000 };
