/** The types for a client of the gateway: its name, its limits, and the functions that ask its user. */

import type { JsonObject } from "@fairlead/wire";
import type { RequestId } from "@fairlead/wire/serve";

/** One connection of an MCP client to the gateway. */
export interface GatewayClient {
  /**
   * The name that rules and the history use, such as `claude-code`. It comes from the client's settings entry or token,
   * never from the client's own messages.
   */
  readonly name: string;
  /** Identifies the connection. An approval "for this conversation" is valid only for requests of this connection. */
  readonly conversation: string;
  /** The servers that the client may use. Default: all. */
  readonly servers?: readonly string[] | undefined;
  /** The tools that the client may use, as `server.tool`. `*` matches any characters. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /**
   * The server in the URL `/mcp/<server>`. The client sees only this server, with its own tool names. Default: all
   * servers.
   */
  readonly only?: string | undefined;
  /**
   * Called before a request is sent to its server. Records for the client's relay that the server may have run the
   * request. `subject` is the tool, prompt or resource, such as `files.write_file`.
   */
  readonly beforeSend?: ((id: RequestId, subject: string) => Promise<void> | undefined) | undefined;
}

/** A client whose user can be asked to confirm a request. */
export interface AskedClient {
  readonly name: string;
  /** Identifies the conversation. An approval "for this conversation" is valid only in this conversation. */
  readonly conversation: string;
  /** The kinds of elicitation that the client declares. */
  readonly elicitation: { readonly form: boolean; readonly url: boolean };
  /** Sends `elicitation/create` to the client. Resolves with its result: `{ action, content? }`. */
  readonly elicit: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
  /** Tells a legacy client that the user has answered a URL elicitation. */
  readonly elicited?: ((elicitationId: string) => void) | undefined;
  /** Reports to the client that its request still waits. Undefined if the client sent no progress token. */
  readonly stillWaiting?: ((message: string) => void) | undefined;
}
