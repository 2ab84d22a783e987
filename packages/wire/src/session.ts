/** The `Session` that callers use to talk to one MCP server, on any transport and in either protocol era. */

import type { WireError } from "./errors.ts";

/**
 * The two kinds of protocol versions. `legacy` (2024-10-07 … 2025-11-25) has `initialize` and sessions. `modern`
 * (2026-07-28) is stateless.
 */
export type Era = "legacy" | "modern";

/** A parsed JSON object whose members have not been checked. */
export type JsonObject = { [key: string]: unknown };

/**
 * The protocol era and the transport that work for a server. Pass it as `era` to the next `connect`, which then tries
 * it first.
 */
export type NegotiatedProtocol =
  | { readonly era: "legacy"; readonly transport: "stdio" | "http" | "sse" }
  | { readonly era: "modern"; readonly transport: "stdio" | "http" };

/** The name and version that a server gives itself. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}

/** The progress of one request, as the server reported it. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Options of one request to a server. */
export interface McpRequestOptions {
  /** If the signal aborts, the request is cancelled at the server and rejects with the code `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Like `signal`, but costs less: calling `stop.abort` cancels the request. If `stop` is set, `signal` is ignored. */
  readonly stop?: RequestStop | undefined;
  /** Milliseconds without a response or progress after which the request times out. Default: `WireTimes.request`. */
  readonly timeout?: number | undefined;
  /** The request times out after this many milliseconds, even if progress arrives. Default: no limit. */
  readonly total?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Maximum size of the response, in bytes. A larger response rejects with `too_large`. Default:
   * `WireLimits.messageBytes`.
   */
  readonly maxBytes?: number;
  /** Called with the length of the response's text in UTF-16 units, before the request resolves. */
  readonly onSize?: (bytes: number) => void;
  /** Called for each item that Fairlead removes from a list in the response (for example an item with a secret). */
  readonly onDropped?: (note: { readonly name?: string; readonly reason: string }) => void;
  /** Whether to ask a legacy server to run a tool call as a task. The request still resolves with the task's result. */
  readonly asTask?: boolean | undefined;
  /**
   * The `_meta` members of a client whose request Fairlead forwards (for example `traceparent`). Members that belong to
   * the client's connection are left out (`io.modelcontextprotocol/…`, `progressToken`).
   */
  readonly meta?: JsonObject | undefined;
  /**
   * The client capabilities that a modern server gets with this request. Default: those of the session. Legacy servers
   * get only those of the session.
   */
  readonly capabilities?: JsonObject | undefined;
  /** A modern server sends log messages of this level and above for this request. No effect on a legacy server. */
  readonly logLevel?: string | undefined;
  /**
   * Called for notifications about this request, except progress. Over stdio, these are only notifications of a
   * subscription, and log messages. It gets log messages only while all open requests have the same owner.
   */
  readonly onNotification?: NotificationListener | undefined;
  /**
   * Answers what the server asks during this request (for example sampling). Default: the session's handler answers.
   */
  readonly answer?: RequestHandler | undefined;
  /**
   * `caller`: if a modern server answers `input_required`, the request resolves with that answer, and the caller sends
   * the request again with the input. Default: the handler gives the input.
   */
  readonly input?: "caller" | undefined;
  /**
   * `caller`: if a modern server answers with a task, the request resolves with the task. Default: Fairlead waits, and
   * the request resolves with the task's result.
   */
  readonly tasks?: "caller" | undefined;
  /**
   * Who sent this request (for example a client of the gateway). A legacy stdio server does not say during which
   * request it asks something. If all open requests have the same owner, `answer` of the latest request is called, and
   * the question stays open until all of them have ended. Otherwise the session's handler is called.
   */
  readonly owner?: string | undefined;
  /** Called right before the request is sent. If it throws or rejects, the request is not sent. */
  readonly beforeSend?: (() => Promise<void> | undefined) | undefined;
  /** Called with the id of the JSON-RPC message, before it is sent. A repeated request has another id. */
  readonly onId?: ((id: number) => void) | undefined;
}

/** The abort state of one request. Offers what most code needs of an `AbortSignal`, and costs less. */
export interface RequestStop {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** An `AbortSignal` for the same request. Created when it is first read. */
  readonly signal: AbortSignal;
  throwIfAborted(): void;
  abort(reason: unknown): void;
  /** Calls the callback when the request is aborted. The returned function removes the callback. */
  onAbort(callback: () => void): () => void;
}

/** Called for each notification of a server. */
export type NotificationListener = (method: string, params: JsonObject) => void;
/** Whether it is known during which request the server asked. */
export interface RequestOrigin {
  /** True if the server may have asked during any of several requests with different owners. */
  readonly isAmbiguous: boolean;
  /**
   * True if the server has never answered a request that another owner has cancelled, or that has timed out: it may mean
   * that one.
   */
  readonly isDoubtful?: boolean | undefined;
}
/** Answers what a server asks (sampling, elicitation, roots). If it throws, a legacy server gets a JSON-RPC error. */
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
  /** `_meta` of the server's response to `initialize` or `server/discover`. */
  readonly meta?: JsonObject;
  /** Pass it as `era` to the next `connect`, which is then faster. Undefined for the built-in demo server. */
  readonly protocol?: NegotiatedProtocol;
  request(method: string, params?: JsonObject, options?: McpRequestOptions): Promise<JsonObject>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Adds a listener. Returns the function that removes it. */
  onNotification(listener: NotificationListener): () => void;
  /**
   * Delivers the notifications that are held back, because a repeated notification is delivered only once in 100 ms.
   * Undefined if none is held back.
   */
  flushNotifications?(): void;
  onRequest(handler: RequestHandler): void;
  /**
   * Whether the server may still ask something about a request that another owner has cancelled or that has timed out.
   * A question during a new request of `owner` would then be ambiguous. Only legacy servers ask without naming a
   * request.
   */
  mayAskForOthers?(owner: string): boolean;
  /** Resolves once, when the connection ends: with the cause, or with undefined after `close`. */
  readonly closed: Promise<WireError | undefined>;
  close(): Promise<void>;
}
