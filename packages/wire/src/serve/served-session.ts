/** One client as a server sees it: answers its requests, and sends it notifications and requests. */

import type { WireError } from "../errors.ts";
import type { OpenChannel, RequestId } from "../rpc/channel.ts";
import { openRpc, type Rpc } from "../rpc/rpc.ts";
import type { JsonObject } from "../session.ts";
import { defaultLimits, defaultTimes, type WireLimits, type WireTimes } from "../target.ts";
import { modernVersionOf } from "./modern-headers.ts";

/** The request that a handler answers. */
export interface ServedRequest {
  readonly id: RequestId;
  /** Aborted when the client cancels the request or goes away. */
  readonly signal: AbortSignal;
}

/** What a server does with the messages of one client. */
export interface ServedSession {
  /** Answers a request. A `WireError` with `evidence.rpc` becomes that JSON-RPC error, another error an internal error. */
  request(method: string, params: JsonObject, request: ServedRequest): Promise<JsonObject>;
  notification?(method: string, params: JsonObject): void;
}

/** Options of a request to the client. */
export interface ClientRequestOptions {
  /** The client's request that this one belongs to. */
  readonly about?: RequestId | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The client, as its `ServedSession` sees it. */
export interface ServedClient {
  /** Sends a notification; `about` is the client's request that it belongs to. */
  notify(method: string, params?: JsonObject, about?: RequestId): Promise<void>;
  /** Sends a request and waits for the answer, which may take as long as a person needs. */
  request(method: string, params?: JsonObject, options?: ClientRequestOptions): Promise<JsonObject>;
  /** Resolves when the client has gone. */
  readonly closed: Promise<WireError | undefined>;
  close(): Promise<void>;
}

/** Limits and times of a served client. Default: those of `connect`, with more requests at a time. */
export interface ServeOptions {
  readonly limits?: Partial<WireLimits>;
  readonly times?: Partial<WireTimes>;
  readonly onDiagnostic?: (text: string) => void;
}

/** How many requests of one client are answered at the same time. */
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
    async onRequest(method, params, signal, { id }) {
      // The modern era has no ping.
      if (method === "ping" && modernVersionOf({ params }) === undefined) return {};
      return session.request(method, params, { id, signal });
    },
    onNotification: (method, params) => session.notification?.(method, params),
    onDiagnostic,
  });
  // Before any message: the channel delivers none until it is open.
  const session = create(client);
  return client;
}
