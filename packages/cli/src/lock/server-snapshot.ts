/** Reads the catalogs of servers for the lock file; a server that cannot be reached is returned with its error. */

import type { Catalog } from "@fairlead/core/discover/catalog";
import type { HostError } from "@fairlead/core/errors";
import type { Peer, ServerState } from "@fairlead/core/events";
import { notConnectedError } from "@fairlead/core/mcp/server-state";
import { compareLock, isEntryChanged, type LockDrift } from "@fairlead/core/policy/lock/lock-drift";
import type { LockedCatalog, LockFile } from "@fairlead/core/policy/lock/lock-file";
import { lockCatalog } from "@fairlead/core/policy/lock/lock-server";
import type { ServerDefinition } from "@fairlead/core/settings/define/definition";
import { clip } from "@fairlead/wire/text";
import { type Download, findDownload } from "../output/servers/server-notes.ts";
import type { Context } from "../shell/verb.ts";
import { connectServers } from "../targets/connect-servers.ts";
import { useHost } from "../targets/with-host.ts";
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

const sources: Readonly<Record<Download["from"], string>> = {
  npm: "npm",
  PyPI: "pypi",
  "an image registry": "image",
};
const longest = 200;

/** Returns a server's version: the exact version in its entry, or else the version that it reports. */
export function packageVersion({ transport }: Pick<ServerDefinition, "transport">, { serverInfo }: Peer): string {
  const download = transport.kind === "stdio" ? findDownload(transport.command, transport.args) : undefined;
  if (download?.pinned) return `${sources[download.from]}:${download.name}`;
  return clip(`reported:${serverInfo.name}@${serverInfo.version}`, longest);
}

export interface LockCheck {
  readonly name: string;
  readonly lock: LockFile;
  readonly drift: LockDrift | undefined;
  readonly look: ServerSnapshot | undefined;
  /** Whether the server was not started because its entry differs from the lock file. */
  readonly isWithheld: boolean;
}

/** Compares the workspace's servers with the lock file. A server that was not reached never counts as unchanged. */
export async function checkLock(
  lock: LockFile,
  workspace: LockWorkspace,
  context: Context,
): Promise<readonly LockCheck[]> {
  const { entries, configuration } = workspace;
  const isWithheld = (name: string): boolean => {
    const [locked, entry] = [lock.get(name), entries.get(name)];
    // --trust-workspace approves all entries; here only entries that match the lock file may start.
    if (!configuration.trust.approvesEntries || entry === undefined) return false;
    return locked === undefined || isEntryChanged(locked.entry, entry);
  };
  const looks = await readSnapshots(
    [...entries.keys()].filter((name) => !isWithheld(name)),
    workspace,
    context,
  );
  const present = [...entries].map(([name, entry]) => {
    const look = looks.get(name);
    return [name, { entry, ...(look?.kind === "seen" && { offer: look.offer }) }] as const;
  });
  const drifts = new Map(compareLock(lock, new Map(present)).map((drift) => [drift.server, drift]));
  const names = [...new Set([...entries.keys(), ...lock.keys()])];
  return names.map((name) => ({
    name,
    lock,
    drift: drifts.get(name),
    look: looks.get(name),
    isWithheld: isWithheld(name),
  }));
}

export function isAsLocked({ drift, look }: LockCheck): boolean {
  return drift === undefined && look?.kind === "seen";
}

export function errorOf({ look }: LockCheck): HostError | undefined {
  return look?.kind === "unseen" ? look.error : undefined;
}
