/** The interface that `rpc.ts` uses to send and receive messages. Each transport implements it. */

import type { WireError } from "../errors.ts";
import type { JsonObject } from "../session.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Unsolicited } from "./read-budget.ts";

/** The id of a JSON-RPC request. */
export type RequestId = number | string;

/** One JSON-RPC message, parsed but not yet checked. */
export type RpcMessage = JsonObject;

/** Options for sending one message. */
export interface ChannelSendOptions {
  /** Aborting cancels the message. A transport with one stream for each request closes that stream. */
  readonly signal?: AbortSignal;
  /** The same as `signal`, without the cost of an `AbortSignal`. */
  readonly cancellation?: Cancellation;
  /** Maximum size of the response, in bytes. The stdio transport ignores it and calls `ChannelEvents.largest`. */
  readonly maxBytes?: number;
  /** HTTP headers for this message. Stdio ignores them. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * For a message of a server: the client's open request that the message belongs to. Over HTTP, the message is sent on
   * the stream of that request.
   */
  readonly about?: RequestId | undefined;
}

export interface ChannelEvents {
  /**
   * Called when a message arrives. The messages of a batch are reported one by one.
   *
   * @param size The size of the message in bytes, or slightly less.
   * @param about The id of the request on whose stream the message arrived. Undefined for transports with one stream.
   * @param headers The HTTP headers of a client's request that repeat its arguments (`Mcp-Param-…`). A relay passes
   * them on.
   * @returns The kind of the message if no open request asked for it.
   */
  message(
    message: RpcMessage,
    size: number,
    about?: number,
    headers?: Readonly<Record<string, string>>,
  ): Unsolicited | undefined;
  /**
   * Returns the maximum size of the next message, in bytes: the largest limit of the open requests, or the limit for
   * unrequested messages.
   */
  largest(): number;
  /**
   * Called when a message was dropped. `start`: the beginning of the message. `cause`: why the message could not be
   * read. Without `cause`, the message was larger than `largest()`.
   */
  dropped(start: string, cause?: WireError): void;
  /** Called once, when the channel has closed. The cause is undefined if the client closed it. */
  closed(cause: WireError | undefined): void;
  /** Called for a problem without consequences, such as log lines on stdout or an invalid event. */
  diagnostic(text: string): void;
  /** Called when a stream for notifications is open again. Notifications that were sent in between may be lost. */
  reopened?(): void;
}

/** An open connection that carries JSON-RPC messages. */
export interface Channel {
  /** How a request is cancelled: by closing its stream, or by a `notifications/cancelled` message. */
  readonly cancelBy: "message" | "stream";
  /**
   * Sends a message. With stdio, resolves when the bytes are written. With HTTP, resolves when the response has been
   * read.
   * @throws WireError if the message or its response is lost; other requests are not affected.
   */
  send(message: RpcMessage, options?: ChannelSendOptions): Promise<void>;
  /** Called after the handshake. From then on, HTTP sends the version as a header. */
  setProtocolVersion(version: string): void;
  close(): Promise<void>;
}

/** Opens a channel: starts the process, or connects to the server. */
export type OpenChannel = (events: ChannelEvents, signal?: AbortSignal) => Promise<Channel>;
