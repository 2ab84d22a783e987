/** A client of the gateway: who it is, what it may reach, and how it can be asked. */

import type { JsonObject } from "@fairlead/wire";
import type { RequestId } from "@fairlead/wire/serve";

/** One connection of an MCP client to the gateway. */
export interface GatewayClient {
  /** The name that rules and the history use, such as `claude-code`: from the client's entry or token, never self-reported. */
  readonly name: string;
  /** Identifies the connection: "yes, for this conversation" holds for requests with the same value. */
  readonly conversation: string;
  /** The only servers that the client reaches. Default: all. */
  readonly servers?: readonly string[] | undefined;
  /** The only tools that the client reaches, as `server.tool`; `*` stands for any characters. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /** The one server of the address `/mcp/<server>`: everything keeps its own name. Default: all servers, merged. */
  readonly only?: string | undefined;
  /** Resolves when the client's side knows that this request is about to be sent to its server; `subject` is what may run, such as `files.write_file`. */
  readonly beforeSend?: ((id: RequestId, subject: string) => Promise<void>) | undefined;
}

/** A client that a question about its request can be put to. */
export interface AskedClient {
  readonly name: string;
  /** "Yes, for this conversation" holds for questions with the same value. */
  readonly conversation: string;
  /** Which elicitations the client declares. */
  readonly elicitation: { readonly form: boolean; readonly url: boolean };
  /** Sends `elicitation/create` to the client; resolves with its result: `{ action, content? }`. */
  readonly elicit: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
  /** Tells a legacy client that the question at an address was answered. */
  readonly elicited?: ((elicitationId: string) => void) | undefined;
  /** Reports to a client that sent a progress token that its request still waits. */
  readonly stillWaiting?: ((message: string) => void) | undefined;
}
