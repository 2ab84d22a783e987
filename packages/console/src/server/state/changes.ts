/** What differs from what the person has accepted: definitions, and the workspace's lock file. */

import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import { compareLock, type LockFile, lockCatalog, lockPath, readLock } from "@fairlead/core/policy";
import type { Server } from "@fairlead/core/server";
import { stringOf } from "@fairlead/wire/json";
import type { ChangesCommands, ListChanges, LockRow } from "../../protocol/changes.ts";
import type { Handlers } from "./parameters.ts";
import { changesOf } from "./server-details.ts";
import { changedItems } from "./server-rows.ts";

const noChanges: ListChanges = { added: [], removed: [], changed: [] };

export function changesCommands(host: OpenedHost): Handlers<ChangesCommands> {
  const { servers } = host.gateway;

  function lockRow(server: Server, lock: LockFile): LockRow {
    const { name } = server;
    const locked = lock.get(name);
    const differences = server.accepted.lock().drift();
    if (locked === undefined)
      return { server: name, state: "added", differences, tools: noChanges, prompts: noChanges };
    const catalog = server.catalog?.catalog;
    const version = stringOf(server.facts()?.serverInfo["version"]);
    // The entry itself is in `differences`, with its secrets hidden.
    const current = { entry: locked.entry, catalog: catalog && lockCatalog(catalog, version) };
    const [drift] = compareLock(new Map([[name, locked]]), new Map([[name, current]]));
    const { tools = noChanges, prompts = noChanges } = drift ?? {};
    const isSame = differences.length === 0 && drift === undefined;
    const state = !isSame ? "changed" : catalog === undefined ? "unknown" : "same";
    return { server: name, state, differences, tools, prompts };
  }

  return {
    "changes/list": {
      takes: {},
      async run() {
        const changed = servers.all().filter((server) => changedItems(server).length > 0);
        return {
          servers: await Promise.all(
            changed.map(async ({ name }) => ({ server: name, changes: await changesOf(host, name) })),
          ),
        };
      },
    },
    "changes/lock": {
      takes: {},
      async run() {
        const { locations, trust } = host.configuration;
        const file = lockPath(locations);
        if (file === undefined) return { state: "none", servers: [] };
        if (!trust.trusted) return { file, state: "ignored", servers: [] };
        try {
          const lock = await readLock(file);
          if (lock === undefined) return { file, state: "none", servers: [] };
          const own = servers.all().filter(({ scope }) => scope === "workspace");
          const gone = [...lock.keys()].filter((name) => servers.find(name)?.scope !== "workspace");
          const rows = [
            ...own.map((server) => lockRow(server, lock)),
            ...gone.map(
              (server): LockRow => ({
                server,
                state: "removed",
                differences: [],
                tools: noChanges,
                prompts: noChanges,
              }),
            ),
          ];
          return { file, state: "read", servers: rows };
        } catch (error) {
          if (!(error instanceof HostError)) throw error;
          return { file, state: "invalid", problem: error.message, servers: [] };
        }
      },
    },
  };
}
