/** Which servers stay when a host is given new ones: those whose settings are the same. Pure. */

import type { ServerChanges } from "../events.ts";
import { type ManagedServer, stateOf } from "./managed-server.ts";

export interface ServerSuccession extends ServerChanges {
  /** By name, in the new order; who is kept stands there with the client of before. */
  readonly servers: ReadonlyMap<string, ManagedServer>;
}

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

/** How the server of before goes on, if it is the same. */
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
