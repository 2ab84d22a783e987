/** Decides which servers keep their connection when the settings change. Pure. */

import type { ServerChanges } from "../events.ts";
import { type ManagedServer, stateOf } from "./managed-server.ts";

/** The new servers, and what changed. */
export interface ServerSuccession extends ServerChanges {
  /** By name, in the new order; kept servers have their old client. */
  readonly servers: ReadonlyMap<string, ManagedServer>;
}

/** Keeps servers whose settings are unchanged. */
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
