/** The `Session` that callers use to talk to one MCP server, on any transport and in either protocol era. */

import type { WireError } from "./errors.ts";

/**
 * A family of protocol versions. `legacy`: with `initialize` and sessions (2024-11-05 … 2025-11-25). `modern`:
 * stateless (2026-07-28).
 */
export type Era = "legacy" | "modern";

/** A parsed JSON object whose members have not been checked. */
export type JsonObject = { [key: string]: unknown };

/**
 * The protocol era and the transport that work for a server. Pass this value as `era` to the next `connect`, which then
 * tries this protocol first.
 */
export type NegotiatedProtocol =
  | { readonly era: "legacy"; readonly transport: "stdio" | "http" | "sse" }
  | { readonly era: "modern"; readonly transport: "stdio" | "http" };

/** @deprecated Renamed to `NegotiatedProtocol`. */
export type Verdict = NegotiatedProtocol;

/** The name and version that a server gives itself. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

/** A progress notification of a server about one request. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Options of one request to a server. */
export interface McpRequestOptions {
  /** If the signal aborts, the request is cancelled at the server and rejects with the code `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Calling `stop.abort` cancels the request, like aborting `signal`. If `stop` is set, `signal` is ignored. */
  readonly stop?: RequestStop | undefined;
  /** Milliseconds without a response or progress after which the request times out. Default: 60 000. */
  readonly timeout?: number | undefined;
  /** Milliseconds after which the request times out even if progress arrives. Default: no limit. */
  readonly total?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Maximum size of the response, in bytes. A larger response rejects with `too_large`. Default:
   * `WireLimits.messageBytes`.
   */
  readonly maxBytes?: number;
  /** Receives the size of the response in bytes, before the request resolves. */
  readonly onSize?: (bytes: number) => void;
  /**
   * Called for each item that Fairlead removed from a list in the response, for example because the item contains a
   * secret.
   */
  readonly onDropped?: (note: { readonly name?: string; readonly reason: string }) => void;
  /** Whether to ask a legacy server to run a tool call as a task. The request still resolves with the task's result. */
  readonly asTask?: boolean | undefined;
  /**
   * Members of `_meta` that another client sent with the request, such as `traceparent`. Members that the protocol
   * reserves for the connection (`io.modelcontextprotocol/…`, `progressToken`) are left out.
   */
  readonly meta?: JsonObject | undefined;
  /**
   * The capabilities that this request declares to a modern server, instead of the session's capabilities. Has no
   * effect on a legacy server.
   */
  readonly capabilities?: JsonObject | undefined;
  /** The lowest level of log messages that a modern server sends for this request. Has no effect on a legacy server. */
  readonly logLevel?: string | undefined;
  /**
   * Receives the notifications that belong to this request, except progress. Over stdio, these are only the
   * notifications of a subscription, and log messages while all open requests have the same owner.
   */
  readonly onNotification?: NotificationListener | undefined;
  /** Answers the server's requests that belong to this request, instead of the session's handler. */
  readonly answer?: RequestHandler | undefined;
  /**
   * `caller`: if a modern server answers `input_required`, the request resolves with this answer. The caller then sends
   * the request again with the input.
   */
  readonly input?: "caller" | undefined;
  /**
   * `caller`: if a modern server answers with a task, the request resolves with the task, and the caller waits for the
   * task's result. Default: the request resolves with the task's result.
   */
  readonly tasks?: "caller" | undefined;
  /**
   * The owner of this request, for example a client of the gateway. A legacy stdio server does not say to which open
   * request its question belongs. If all open requests have the same owner, the request that was active last gets the
   * question. Otherwise the session's handler gets the question.
   */
  readonly owner?: string | undefined;
  /** Called and awaited immediately before the request is sent. If it throws or rejects, the request is not sent. */
  readonly beforeSend?: (() => Promise<void> | undefined) | undefined;
}

/** @deprecated Renamed to `McpRequestOptions`. */
export type RequestOptions = McpRequestOptions;

/**
 * The abort state of one request: the part of an `AbortSignal` that most code needs, without the cost of creating one.
 */
export interface RequestStop {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** An `AbortSignal` that aborts together with the request. Created when it is first read. */
  readonly signal: AbortSignal;
  throwIfAborted(): void;
  abort(reason: unknown): void;
  /** Calls a function once when the request is aborted. Returns the function that stops listening. */
  onAbort(callback: () => void): () => void;
}

/** Receives a server's notifications. */
export type NotificationListener = (method: string, params: JsonObject) => void;
/** Says whether the owner of a server's request is known. */
export interface RequestOrigin {
  /** True if the server's request may belong to open requests of several owners. */
  readonly isAmbiguous: boolean;
}
/**
 * Answers a request of the server (sampling, elicitation, roots). If it throws, the error is sent as a JSON-RPC error.
 */
export type RequestHandler = (
  method: string,
  params: JsonObject,
  signal: AbortSignal,
  origin?: RequestOrigin,
) => Promise<JsonObject>;

/** One open connection to an MCP server. */
export interface Session {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly serverInfo: ServerInfo;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** The negotiated protocol. Pass it as `era` to the next `connect`. Absent for the built-in demo server. */
  readonly protocol?: NegotiatedProtocol;
  /** @deprecated Renamed to `protocol`. */
  readonly verdict?: NegotiatedProtocol;
  request(method: string, params?: JsonObject, options?: McpRequestOptions): Promise<JsonObject>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Adds a listener. Returns the function that removes it. */
  onNotification(listener: NotificationListener): () => void;
  onRequest(handler: RequestHandler): void;
  /** Resolves once, when the connection ends: with the cause, or with undefined after `close`. */
  readonly closed: Promise<WireError | undefined>;
  close(): Promise<void>;
}
