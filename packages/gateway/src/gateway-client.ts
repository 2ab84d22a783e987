/** The types of a gateway client: its name, its limits, and how to ask its user. */

import type { ClientPinsOptions } from "@fairlead/core/server";
import type { JsonObject } from "@fairlead/wire";
import type { RequestId } from "@fairlead/wire/serve";
import type { Principal } from "./workspaces.ts";

/** One connection of an MCP client to the gateway. */
export interface GatewayClient {
  /**
   * The name in rules and in the history, such as `claude-code`. It comes from the client's settings entry or token,
   * never from its messages.
   */
  readonly name: string;
  /**
   * Identifies the connection, or all requests of a modern HTTP client to one URL. An approval "in this conversation"
   * is valid only for them.
   */
  readonly conversation: string;
  /** The servers that the client may use. Default: all. */
  readonly servers?: readonly string[] | undefined;
  /** The tools that the client may use, as `server.tool`. `*` matches any characters. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /** The server in the URL `/mcp/<server>`. The client then sees only this server. Default: all servers. */
  readonly only?: string | undefined;
  /**
   * Called before a request is sent to its server. The relay must know that the server may have run it. `subject`: for
   * example `files.write_file`.
   */
  readonly beforeSend?: ((id: RequestId, subject: string) => Promise<void> | undefined) | undefined;
  /** The names that the client knows from an earlier host, and the relay that keeps those of this one. */
  readonly names?: ClientPinsOptions | undefined;
}

/** A client whose user can be asked to confirm a request. */
export interface AskedClient {
  readonly name: string;
  /** The user of a team who sends the request. */
  readonly principal?: Principal | undefined;
  /** An approval "in this conversation" is valid only for requests with this id. */
  readonly conversation: string;
  /** The kinds of elicitation that the client declares. */
  readonly elicitation: { readonly form: boolean; readonly url: boolean };
  /** Sends `elicitation/create` to the client. Resolves with its result: `{ action, content? }`. */
  readonly elicit: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
  /** Tells a legacy client that the user has finished a URL elicitation. */
  readonly elicited?: ((elicitationId: string) => void) | undefined;
  /** Tells the client that its request still waits. Undefined if the client wants no progress. */
  readonly stillWaiting?: ((message: string) => void) | undefined;
}
