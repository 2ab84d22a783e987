/** What everything above the wire sees of a server: one conversation, whatever transport and protocol era are under it. */

import type { WireError } from "./errors.ts";

/** `legacy`: `initialize` and sessions (2024-11-05 … 2025-11-25); `modern`: stateless (2026-07-28). */
export type Era = "legacy" | "modern";

export type JsonObject = { [key: string]: unknown };

/** What was learnt about a server: remember it, pass it in next time, and nothing is tried that did not work. */
export type NegotiatedProtocol =
  | { readonly era: "legacy"; readonly transport: "stdio" | "http" | "sse" }
  | { readonly era: "modern"; readonly transport: "stdio" | "http" };

/** @deprecated Renamed to `NegotiatedProtocol`. */
export type Verdict = NegotiatedProtocol;

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

export interface McpRequestOptions {
  /** Aborting reaches the server as a cancellation and rejects with `cancelled`, never with a timeout. */
  readonly signal?: AbortSignal | undefined;
  /** The longest silence in milliseconds; progress restarts it. */
  readonly timeout?: number;
  /** The absolute limit in milliseconds, progress or not. */
  readonly total?: number;
  readonly onProgress?: (progress: Progress) => void;
  /** A tool call that its server takes only as a task, where that is the caller's to say; its end is the answer all the same. */
  readonly asTask?: boolean;
}

export type NotificationListener = (method: string, params: JsonObject) => void;
/** Answers a request of the server (sampling, elicitation, roots); what it throws goes back as an error reply. */
export type RequestHandler = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

export interface Session {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly serverInfo: ServerInfo;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** What to pass in as `era` the next time this server is reached; absent where there is no wire under the session. */
  readonly protocol?: NegotiatedProtocol;
  request(method: string, params?: JsonObject, options?: McpRequestOptions): Promise<JsonObject>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Returns the function that stops listening. */
  onNotification(listener: NotificationListener): () => void;
  onRequest(handler: RequestHandler): void;
  /** Settles once, when the conversation is over, with its cause if it was not closed from here. */
  readonly closed: Promise<WireError | undefined>;
  close(): Promise<void>;
}
