/** The servers that `McpClientManager` holds. */

import type { ServerState } from "../events.ts";
import type { McpClient } from "./client.ts";

/** A server as `McpClientManager` holds it: with a client if it may start, else with the state that says why not. */
export type ManagedServer = StartableServer | { readonly state: ServerState };

/** A server that may start. */
export interface StartableServer {
  readonly client: McpClient;
  /** Digest of the settings. `update` keeps a server whose fingerprint is the same; without one it is always replaced. */
  readonly fingerprint?: string;
  /** Connected only when named or first used; false by default. */
  readonly isLazy?: boolean;
  /** Whether it is a stdio program; false by default. */
  readonly isProgram?: boolean;
}

/** The state of a managed server. */
export function stateOf(server: ManagedServer): ServerState {
  return "client" in server ? server.client.state : server.state;
}
