/** Serves one client: answers its requests, and sends it notifications and requests. */

import type { WireError } from "../errors.ts";
import type { RequestAbort } from "../rpc/abort.ts";
import type { OpenChannel, RequestId } from "../rpc/channel.ts";
import { openRpc, type Rpc } from "../rpc/rpc.ts";
import type { JsonObject, RequestStop } from "../session.ts";
import { defaultLimits, defaultTimes, type WireLimits, type WireTimes } from "../target.ts";
import { modernVersionOf } from "./modern-headers.ts";

/** A client's request, for the handler that answers it. */
export interface ServedRequest {
  readonly id: RequestId;
  /** Aborts when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /**
   * Aborts like `signal`, but costs less. The handler may call `stop.abort` to end its own work. The client still gets
   * a response.
   */
  readonly stop?: RequestStop | undefined;
  /** The HTTP headers `traceparent` and `tracestate` of the request, and others that concern it. Undefined on stdio. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Calls the callback when the handler has answered the request, or has failed. */
  atEnd?(callback: () => void): void;
}

/** A class, because its getter `signal` creates an `AbortSignal` only when a handler reads it. */
class OpenServedRequest implements ServedRequest {
  readonly id: RequestId;
  readonly stop: RequestAbort;
  readonly headers: ServedRequest["headers"];

  constructor(id: RequestId, stop: RequestAbort, headers: ServedRequest["headers"]) {
    this.id = id;
    this.stop = stop;
    this.headers = headers;
  }

  get signal(): AbortSignal {
    return this.stop.signal;
  }

  atEnd(callback: () => void): void {
    this.stop.atEnd(callback);
  }
}

/** What a server does with one client's messages. */
export interface ServedSession {
  /**
   * Returns the result of a request. If it throws a `WireError` with `evidence.rpc`, the client gets that JSON-RPC
   * error. Any other error becomes an internal error.
   */
  request(method: string, params: JsonObject, request: ServedRequest): Promise<JsonObject>;
  notification?(method: string, params: JsonObject): void;
}

/** Options of a request that the server sends to its client. */
export interface ClientRequestOptions {
  /** The id of the client's request during which the server asks. */
  readonly about?: RequestId | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A connected client, for a server that wants to send it messages. */
export interface ServedClient {
  /** Sends a notification. `about` is the id of the client's request that it is about. */
  notify(method: string, params?: JsonObject, about?: RequestId): Promise<void>;
  /** Sends a request and waits for the answer. There is no timeout, because a person may have to answer. */
  request(method: string, params?: JsonObject, options?: ClientRequestOptions): Promise<JsonObject>;
  /**
   * If the client reads its responses too slowly, returns a promise that resolves when it has read more, or has
   * disconnected. Before then, a server should not begin work with large results.
   */
  drained(): Promise<void> | undefined;
  /** Resolves when the client has disconnected. */
  readonly closed: Promise<WireError | undefined>;
  close(): Promise<void>;
}

/** Limits and times for one client. Defaults: as for `connect`, but 256 requests may be open. */
export interface ServeOptions {
  readonly limits?: Partial<WireLimits>;
  readonly times?: Partial<WireTimes>;
  readonly onDiagnostic?: (text: string) => void;
}

const openRequests = 256;

/**
 * Opens the channel and answers the client's requests.
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
    drained: () => rpc?.drained(),
    get closed() {
      return opened.then(({ closed }) => closed);
    },
    async close() {
      await (await opened).close();
    },
  };
  let rpc: Rpc | undefined;
  const opened: Promise<Rpc> = openRpc(open, {
    limits: { ...defaultLimits, inboundRequests: openRequests, ...limits },
    times: { ...defaultTimes, ...times },
    answersPing: false,
    onServed(method, params, stop, { id, headers }) {
      // Only the legacy protocol era defines `ping`.
      if (method === "ping" && modernVersionOf({ params }) === undefined) return Promise.resolve({});
      return session.request(method, params, new OpenServedRequest(id, stop, headers));
    },
    onNotification: (method, params) => session.notification?.(method, params),
    onDiagnostic,
  });
  opened.then(
    (given) => {
      rpc = given;
    },
    () => undefined,
  );
  // The channel opens asynchronously, so no message can arrive before `session` is set.
  const session = create(client);
  return client;
}
