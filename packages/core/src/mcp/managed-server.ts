import type { ServerChanges, ServerState } from "../events.ts";
import type { McpClient } from "./client.ts";

/** A server as `McpClientManager` holds it: with a client if it may start, else with the state that says why not. */
export type ManagedServer = StartableServer | { readonly state: ServerState };

/** A server that may start. */
export interface StartableServer {
  readonly client: McpClient;
  /** Digest of the settings. `update` keeps a server whose fingerprint is the same; without one it is always replaced. */
  readonly fingerprint?: string;
  /** Whether the server is connected only when it is named or first used; false by default. */
  readonly isLazy?: boolean;
  /** Whether the server is a stdio program; false by default. */
  readonly isProgram?: boolean;
}

export function stateOf(server: ManagedServer): ServerState {
  return "client" in server ? server.client.state : server.state;
}

/** The new servers, and their differences from the old ones. */
interface ServerSuccession extends ServerChanges {
  /** The new servers by name, in their new order; kept servers have their old client. */
  readonly servers: ReadonlyMap<string, ManagedServer>;
}

/** Keeps the connections of servers whose settings are the same after a change of the settings. */
export function compareServers(
  before: ReadonlyMap<string, ManagedServer>,
  after: readonly ManagedServer[],
): ServerSuccession {
  const servers = new Map<string, ManagedServer>();
  const changes = { kept: [] as string[], replaced: [] as string[], added: [] as string[] };
  for (const server of after) {
    const { name } = stateOf(server);
    const old = before.get(name);
    const kept = old && keptServer(old, server);
    servers.set(name, kept ?? server);
    changes[kept ? "kept" : old ? "replaced" : "added"].push(name);
  }
  return { servers, ...changes, removed: [...before.keys()].filter((name) => !servers.has(name)) };
}

/** The server with its old client, if the settings are unchanged; else undefined. */
function keptServer(old: ManagedServer, server: ManagedServer): ManagedServer | undefined {
  if ("client" in old && "client" in server) {
    const isSame = old.fingerprint !== undefined && old.fingerprint === server.fingerprint;
    return isSame ? { ...server, client: old.client } : undefined;
  }
  if ("client" in old || "client" in server) return undefined;
  const { since: _, ...was } = old.state;
  const { since: __, ...is } = server.state;
  return JSON.stringify(was) === JSON.stringify(is) ? old : undefined;
}
