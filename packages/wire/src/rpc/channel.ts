/** The interface between JSON-RPC (`rpc.ts`) and the transports, which implement it. */

import type { WireError } from "../errors.ts";
import type { JsonObject } from "../session.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Unsolicited } from "./read-budget.ts";

/** The id of a JSON-RPC request. */
export type RequestId = number | string;

/** One JSON-RPC message, parsed but not yet checked. */
export type RpcMessage = JsonObject;

/** Options of sending one message. */
export interface ChannelSendOptions {
  /** Aborting cancels the message; a transport with one stream per request closes that stream. */
  readonly signal?: AbortSignal;
  /** The same as `signal`, without the cost of an `AbortSignal`. */
  readonly cancellation?: Cancellation;
  /** The largest response, in bytes; stdio asks `ChannelEvents.largest` instead. */
  readonly maxBytes?: number;
  /** HTTP headers for this message; stdio ignores them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The client's open request that a server's message belongs to: over HTTP it goes onto the stream of that request. */
  readonly about?: RequestId | undefined;
}

export interface ChannelEvents {
  /**
   * A message has arrived. The messages of a batch are reported one by one.
   *
   * @param size How many bytes the message took, or a little less.
   * @param headers HTTP headers of a client's request that repeat arguments (`Mcp-Param-…`): a relay passes them on.
   * @returns What the message was if no open request asked for it.
   */
  message(message: RpcMessage, size: number, headers?: Readonly<Record<string, string>>): Unsolicited | undefined;
  /** How many bytes the largest message may have that an open request asks for, or that comes unasked. */
  largest(): number;
  /** A message was dropped because it was larger than `largest()`; `start` is its beginning. */
  dropped(start: string): void;
  /** The channel has closed; called once. No cause means that the client closed it. */
  closed(cause: WireError | undefined): void;
  /** A problem without consequences, such as log lines on stdout or an invalid event. */
  diagnostic(text: string): void;
  /** A stream for notifications is open again: the server's notifications meanwhile may be lost. */
  reopened?(): void;
}

/** An open connection that carries JSON-RPC messages. */
export interface Channel {
  /** How a request is cancelled: by closing its stream, or with a `notifications/cancelled` message. */
  readonly cancelBy: "message" | "stream";
  /**
   * Sends a message. Resolves for stdio when the bytes are written, for HTTP when the response has been read.
   * @throws WireError if the message or its response is lost; other requests are not affected.
   */
  send(message: RpcMessage, options?: ChannelSendOptions): Promise<void>;
  /** Called after the handshake; HTTP sends the version as a header from then on. */
  setProtocolVersion(version: string): void;
  close(): Promise<void>;
}

/** Opens a channel: starts the process, or connects to the server. */
export type OpenChannel = (events: ChannelEvents, signal?: AbortSignal) => Promise<Channel>;
