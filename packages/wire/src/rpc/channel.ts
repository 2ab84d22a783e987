/** The interface that `rpc.ts` uses to send and receive messages. Each transport implements it. */

import type { WireError } from "../errors.ts";
import type { JsonObject, RequestStop } from "../session.ts";
import type { Unsolicited } from "./read-budget.ts";

/** The id of a JSON-RPC request. */
export type RequestId = number | string;

/** One JSON-RPC message, parsed but not yet checked. */
export type RpcMessage = JsonObject;

export interface ChannelSendOptions {
  /** Cancels the message. A transport with one stream for each request closes that stream. */
  readonly signal?: AbortSignal;
  /** The same as `signal`, without the cost of an `AbortSignal`. If `stop` is set, `signal` is ignored. */
  readonly stop?: RequestStop;
  /** Maximum size of the response, in bytes. The stdio transport ignores it and calls `ChannelEvents.largest`. */
  readonly maxBytes?: number;
  /** HTTP headers for this message. Stdio ignores them. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Only for a program that is an MCP server: the client's request that this message is about. Over HTTP, the message
   * is sent on that request's stream.
   */
  readonly about?: RequestId | undefined;
}

/** The callbacks that a transport calls: for each message, for problems, and when the channel closes. */
export interface ChannelEvents {
  /**
   * Called for each message, also for each message of a batch.
   *
   * @param size The length of the message's text in UTF-16 units, which is at most its size in bytes.
   * @param about The request on whose stream the message arrived. Undefined if all requests share one stream.
   * @param headers The `Mcp-Param-…` headers of a client's request, and those of its trace context. A relay sends them on
   *   to the server.
   * @returns What the message is (for limits on unrequested output), or undefined if an open request expects it.
   */
  message(
    message: RpcMessage,
    size: number,
    about?: number,
    headers?: Readonly<Record<string, string>>,
  ): Unsolicited | undefined;
  /**
   * Returns how large the next message may be, in bytes. If no request is open, this is the limit for unrequested
   * messages.
   */
  largest(): number;
  /**
   * Called when a message was dropped. `start` is its beginning, `cause` is why it could not be read. Without `cause`,
   * it was larger than `largest()`.
   */
  dropped(start: string, cause?: WireError): void;
  /** Called once, when the channel has closed. The cause is undefined if the client closed it. */
  closed(cause: WireError | undefined): void;
  /** Called for a problem that the connection survives (for example a log line on stdout, or an invalid event). */
  diagnostic(text: string): void;
  /** Called when the stream for notifications was closed and is open again. Notifications in between may be lost. */
  reopened?(): void;
  /** Called when the stream for notifications has ended, or could not be opened. */
  streamEnded?(): void;
}

/** An open connection that carries JSON-RPC messages. */
export interface Channel {
  /** How a request is cancelled: by closing its stream, or by a `notifications/cancelled` message. */
  readonly cancelBy: "message" | "stream";
  /**
   * Sends a message. Over stdio, resolves when the bytes are written. Over streamable HTTP, resolves when the response
   * has been read. Over HTTP+SSE, resolves when the server has accepted the message.
   * @throws WireError if the message or its response is lost. Other requests go on.
   */
  send(message: RpcMessage, options?: ChannelSendOptions): Promise<void>;
  /** Called after the handshake. From then on, HTTP sends the version as a header. */
  setProtocolVersion(version: string): void;
  /**
   * Only for a program that is an MCP server: if the client reads too slowly, returns a promise that resolves when it
   * has read more, or has disconnected.
   */
  drained?(): Promise<void> | undefined;
  close(): Promise<void>;
}

/** Opens a channel: starts the process, or connects to the server. */
export type OpenChannel = (events: ChannelEvents, signal?: AbortSignal) => Promise<Channel>;
