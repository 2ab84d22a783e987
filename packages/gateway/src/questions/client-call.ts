/** An open request of a client, the same for both protocol eras. */

import type { ReceivedSpan } from "@fairlead/core/telemetry";
import type { Era, JsonObject } from "@fairlead/wire";
import type { RequestId } from "@fairlead/wire/serve";

/** What the gateway needs to answer and cancel a request, and to ask its client. */
export interface ClientCall {
  readonly era: Era;
  readonly id: RequestId;
  /**
   * The capabilities that the client declares. A legacy client declares them once, a modern client with each request.
   */
  readonly capabilities: JsonObject;
  /**
   * The lowest level of log messages that the client wants. If undefined, a legacy client gets all, a modern client
   * none.
   */
  readonly logLevel: string | undefined;
  /** The span of the request. Absent if no spans are collected. */
  readonly received?: ReceivedSpan | undefined;
  /** Aborts when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /** Aborts `signal`. The client still gets a response. */
  readonly stop?: Pick<AbortController, "abort"> | undefined;
  /**
   * If the client reads its responses too slowly, returns a promise that resolves when it has read more, or has
   * disconnected.
   */
  readonly drained?: (() => Promise<void> | undefined) | undefined;
  /** Sends the client a notification about this request. */
  readonly notify: (method: string, params: JsonObject) => void;
  /**
   * Asks the client a question about this request and waits for the answer. A legacy client gets a request, a modern
   * client an input request.
   */
  readonly ask: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
}
