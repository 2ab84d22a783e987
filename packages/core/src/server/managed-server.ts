/** The servers that `ServerManager` manages, and their comparison after a change of the settings. */

import type { ServerChanges, ServerState } from "../events.ts";
import type { Connection } from "./connection.ts";

/**
 * A server of `ServerManager`. If the server is allowed to start, it has a client; otherwise a state with the
 * reason.
 */
export type ManagedServer = StartableServer | { readonly state: ServerState };

/** A server that is allowed to start. */
export interface StartableServer {
  readonly client: Connection;
  /**
   * Digest of the server's settings. `update` keeps the server if the fingerprint is unchanged. Without a fingerprint,
   * `update` always replaces the server.
   */
  readonly fingerprint?: string;
  /** If true, the server is connected only when a caller names it or uses it. Default: false. */
  readonly isLazy?: boolean;
  /** Whether the server is a stdio program; false by default. */
  readonly isProgram?: boolean;
}

/** The current state of a server, whether or not it is allowed to start. */
export function stateOf(server: ManagedServer): ServerState {
  return "client" in server ? server.client.state : server.state;
}

/** The servers after a change of the settings, and how they differ from the earlier servers. */
interface ServerSuccession extends ServerChanges {
  /**
   * The new servers by name, in their new order. A server with unchanged settings has the client that it had before.
   */
  readonly servers: ReadonlyMap<string, ManagedServer>;
}

/**
 * Compares the servers before and after a change of the settings. A server with unchanged settings keeps its client.
 */
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

/** The server with its existing client; undefined if its settings have changed. */
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
