/** A server as a host manages it: with a client if it may start, else with the state that says why not. */

import type { ServerState } from "../events.ts";
import type { McpClient } from "./client.ts";

/** A server as `McpClientManager` holds it: with a client if it may start, else with the state that says why not. */
export type ManagedServer = StartableServer | { readonly state: ServerState };

export interface StartableServer {
  readonly client: McpClient;
  /** Of its settings: as long as it is the same, the server is. Without one, it never is. */
  readonly fingerprint?: string;
  /** Connected only when named, or when first used. */
  readonly isLazy?: boolean;
  /** Starting it costs this machine something. */
  readonly isProgram?: boolean;
}

export function stateOf(server: ManagedServer): ServerState {
  return "client" in server ? server.client.state : server.state;
}
