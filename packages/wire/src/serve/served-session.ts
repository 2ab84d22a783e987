/** One client from the server's point of view: answers its requests, and sends it notifications and requests. */

import type { WireError } from "../errors.ts";
import type { RequestAbort } from "../rpc/abort.ts";
import type { OpenChannel, RequestId } from "../rpc/channel.ts";
import { openRpc, type Rpc } from "../rpc/rpc.ts";
import type { JsonObject, RequestStop } from "../session.ts";
import { defaultLimits, defaultTimes, type WireLimits, type WireTimes } from "../target.ts";
import { modernVersionOf } from "./modern-headers.ts";

/** The request that a handler answers. */
export interface ServedRequest {
  readonly id: RequestId;
  /** A signal that aborts when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /**
   * The abort state of the request. Creating it takes less time than creating `signal`. The handler may call
   * `stop.abort` to end its own work. The client still gets an answer.
   */
  readonly stop?: RequestStop | undefined;
  /** Calls a function when the handler has answered the request or has failed. */
  atEnd?(callback: () => void): void;
}

/** A request. It is a class, so that its `signal` getter creates an `AbortSignal` only when a handler reads it. */
class OpenServedRequest implements ServedRequest {
  readonly id: RequestId;
  readonly stop: RequestAbort;

  constructor(id: RequestId, stop: RequestAbort) {
    this.id = id;
    this.stop = stop;
  }

  get signal(): AbortSignal {
    return this.stop.signal;
  }

  atEnd(callback: () => void): void {
    this.stop.atEnd(callback);
  }
}

/** The functions with which a server handles one client's messages. */
export interface ServedSession {
  /**
   * Answers a request. A `WireError` with `evidence.rpc` becomes that JSON-RPC error. Any other error becomes an
   * internal error.
   */
  request(method: string, params: JsonObject, request: ServedRequest): Promise<JsonObject>;
  notification?(method: string, params: JsonObject): void;
}

/** Options of a request to the client. */
export interface ClientRequestOptions {
  /** The client's request that this request belongs to. */
  readonly about?: RequestId | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A client from the server's point of view. */
export interface ServedClient {
  /** Sends a notification. `about` is the client's request that it belongs to. */
  notify(method: string, params?: JsonObject, about?: RequestId): Promise<void>;
  /** Sends a request and waits for the answer. There is no timeout, because a person may have to answer. */
  request(method: string, params?: JsonObject, options?: ClientRequestOptions): Promise<JsonObject>;
  /** Resolves when the client has disconnected. */
  readonly closed: Promise<WireError | undefined>;
  close(): Promise<void>;
}

/**
 * Limits and times for one client. The defaults are those of `connect`, except that 256 requests may be open at a time.
 */
export interface ServeOptions {
  readonly limits?: Partial<WireLimits>;
  readonly times?: Partial<WireTimes>;
  readonly onDiagnostic?: (text: string) => void;
}

/** Maximum number of requests of one client that are answered at the same time. */
const openRequests = 256;

/**
 * Serves one client over an open channel.
 *
 * @example
 * ```ts
 * const client = serveClient(openClientStdio({ input: process.stdin, output: process.stdout }), () => ({
 *   request: async (method) => ({ tools: [] }),
 * }));
 * await client.closed;
 * ```
 */
export function serveClient(
  open: OpenChannel,
  create: (client: ServedClient) => ServedSession,
  { limits, times, onDiagnostic }: ServeOptions = {},
): ServedClient {
  const client: ServedClient = {
    async notify(method, params, about) {
      await (await opened).notify(method, params, { about });
    },
    async request(method, params, { about, signal } = {}) {
      return (await opened).request(method, params, { about, signal, timeout: Number.POSITIVE_INFINITY });
    },
    get closed() {
      return opened.then(({ closed }) => closed);
    },
    async close() {
      await (await opened).close();
    },
  };
  const opened: Promise<Rpc> = openRpc(open, {
    limits: { ...defaultLimits, inboundRequests: openRequests, ...limits },
    times: { ...defaultTimes, ...times },
    answersPing: false,
    onServed(method, params, stop, { id }) {
      // Only the legacy protocol era defines `ping`.
      if (method === "ping" && modernVersionOf({ params }) === undefined) return Promise.resolve({});
      return session.request(method, params, new OpenServedRequest(id, stop));
    },
    onNotification: (method, params) => session.notification?.(method, params),
    onDiagnostic,
  });
  // No message can arrive before `session` is set, because the channel is still opening.
  const session = create(client);
  return client;
}
