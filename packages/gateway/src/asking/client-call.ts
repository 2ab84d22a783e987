/** One request from a client while the gateway is answering it, in either protocol era. */

import type { Era, JsonObject } from "@fairlead/wire";
import type { RequestId } from "@fairlead/wire/serve";

export interface ClientCall {
  readonly era: Era;
  readonly id: RequestId;
  /** The client's declared capabilities: sent once in the legacy era, with every request in the modern era. */
  readonly capabilities: JsonObject;
  /** The lowest level of log messages that the client asked for; undefined if it did not ask for log messages. */
  readonly logLevel: string | undefined;
  /** Aborts when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /** The controller of `signal`, which the request's host may abort too. */
  readonly stop?: AbortController | undefined;
  /** Sends the client a notification that belongs to this request. */
  readonly notify: (method: string, params: JsonObject) => void;
  /**
   * Asks the client a question that belongs to this request, and waits for the answer: by a request in the legacy era,
   * as an input request in the modern era.
   */
  readonly ask: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
}
