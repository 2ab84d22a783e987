/** A way to exchange JSON-RPC messages with one server; the transports implement it, `rpc.ts` speaks over it. */

import type { WireError } from "../errors.ts";
import type { JsonObject } from "../session.ts";
import type { Cancellation } from "./cancellation.ts";

export type RequestId = number | string;

/** One JSON-RPC message, parsed but not yet believed. */
export type RpcMessage = JsonObject;

export interface ChannelSendOptions {
  /** Ends the exchange: a transport with one stream per request closes that stream. */
  readonly signal?: AbortSignal;
  /** The same, for those who can do without a signal. */
  readonly cancellation?: Cancellation;
  /** Extra headers of this one request; transports without headers ignore them. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ChannelEvents {
  /** Every message that arrived, in order; a batch arrives as its members. */
  message(message: RpcMessage): void;
  /** Once, when nothing will arrive any more; absent cause: closed from here. */
  closed(cause: WireError | undefined): void;
  /** Something odd that hurts nobody: noise on stdout, an unparsable event, a reconnect. */
  diagnostic(text: string): void;
}

export interface Channel {
  /** Abort reaches a request's server by ending its exchange here (`stream`) or needs a `notifications/cancelled` (`message`). */
  readonly cancelBy: "message" | "stream";
  /**
   * Resolves when the exchange is over: for stdio when the bytes have left, for HTTP when the answer has been read.
   * Rejects with a WireError when the message, or the answer it asked for, is lost; only that request fails then.
   */
  send(message: RpcMessage, options?: ChannelSendOptions): Promise<void>;
  /** Told by the session once the handshake is done; HTTP sends it in every header from then on. */
  setProtocolVersion(version: string): void;
  close(): Promise<void>;
}

/** Opens a channel: starts the process, or prepares the connection. */
export type OpenChannel = (events: ChannelEvents, signal?: AbortSignal) => Promise<Channel>;
