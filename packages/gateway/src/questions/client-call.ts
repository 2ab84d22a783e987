/** A request that a client of either protocol era has sent and the gateway has not answered yet. */

import type { Era, JsonObject, RequestStop } from "@fairlead/wire";
import type { RequestId } from "@fairlead/wire/serve";

export interface ClientCall {
  readonly era: Era;
  readonly id: RequestId;
  /**
   * The capabilities that the client declares. A legacy client declares them once, a modern client with each request.
   */
  readonly capabilities: JsonObject;
  /** The lowest level of log messages that the client wants. Undefined if it wants no log messages. */
  readonly logLevel: string | undefined;
  /** A signal that aborts when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /**
   * The abort state of the request. Creating it takes less time than creating `signal`. The host may call `stop.abort`
   * to end its own work on the request.
   */
  readonly stop?: RequestStop | undefined;
  /** Sends the client a notification that belongs to this request. */
  readonly notify: (method: string, params: JsonObject) => void;
  /**
   * Asks the client a question that belongs to this request, and waits for the answer. A legacy client gets the
   * question as a request. A modern client gets it as an input request.
   */
  readonly ask: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
}
