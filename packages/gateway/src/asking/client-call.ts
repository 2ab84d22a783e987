/** One request of a client while the gateway answers it, in either protocol era. */

import type { Era, JsonObject } from "@fairlead/wire";
import type { RequestId } from "@fairlead/wire/serve";

export interface ClientCall {
  readonly era: Era;
  readonly id: RequestId;
  /** What the client declares: in the legacy era once, in the modern era with each request. */
  readonly capabilities: JsonObject;
  /** The lowest level of log messages that the client asked for; undefined: it did not ask. */
  readonly logLevel: string | undefined;
  /** Aborted when the client cancels the request or goes away. */
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to this request. */
  readonly notify: (method: string, params: JsonObject) => void;
  /**
   * Asks the client a question that belongs to this request, and waits for the answer: by a request in the legacy era,
   * as an input request in the modern era.
   */
  readonly ask: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
}
