/** Reads the catalogs of servers for the lock file; a server that cannot be reached is returned with its error. */

import type { Catalog } from "@fairlead/core/discover/catalog";
import type { HostError } from "@fairlead/core/errors";
import type { ServerState } from "@fairlead/core/events";
import { notConnectedError } from "@fairlead/core/mcp/server-state";
import { type LockedCatalog, lockCatalog } from "@fairlead/core/policy/lock/lock-file";
import type { Context } from "../shell/verb.ts";
import { connectServers } from "../targets/connect-servers.ts";
import { useHost } from "../targets/with-host.ts";
import { packageVersion } from "./package-version.ts";
import type { LockWorkspace } from "./workspace.ts";

export type ServerSnapshot =
  | {
      readonly kind: "seen";
      readonly offer: LockedCatalog;
      readonly catalog: Catalog;
      /** The cached catalog from before connecting. */
      readonly remembered: Catalog | undefined;
    }
  | { readonly kind: "unseen"; readonly error: HostError };

export async function readSnapshots(
  names: readonly string[],
  { configuration }: Pick<LockWorkspace, "configuration">,
  context: Context,
): Promise<ReadonlyMap<string, ServerSnapshot>> {
  return useHost(configuration, context, async (host) => {
    await host.recall(names);
    const remembered = new Map(names.map((name) => [name, host.catalog(name)]));
    await connectServers(host, names, context);
    const states = host.states().filter(({ name }) => names.includes(name));
    return new Map(states.map((state) => [state.name, lookOf(state)]));

    function lookOf(state: ServerState): ServerSnapshot {
      const { name } = state;
      const catalog = host.catalog(name);
      const definition = configuration.servers.find(({ server }) => server.name === name)?.server.definition;
      if (state.status !== "connected" || catalog === undefined || definition === undefined)
        return { kind: "unseen", error: notConnectedError(state) };
      const offer = lockCatalog(catalog, packageVersion(definition, state.peer));
      return { kind: "seen", offer, catalog, remembered: remembered.get(name) };
    }
  });
}
