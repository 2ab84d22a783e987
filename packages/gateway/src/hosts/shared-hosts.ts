/**
 * The hosts that all clients of a workspace share. If a server supports both protocol eras, Fairlead uses the client's
 * era, because many tools work in one era only. A server that supports one era has one process for all clients.
 */

import type { Clock } from "@fairlead/core/clock";
import type { Host } from "@fairlead/core/host/types";
import type { Era } from "@fairlead/wire";
import { createListNews, type ListNews } from "../lists/list-news.ts";
import type { HostHooks } from "./gateway-host.ts";

/** The host whose lists clients see, with notifications about changes of these lists. */
export interface SharedHost {
  readonly host: Host;
  readonly news: ListNews;
}

export interface SharedHosts extends SharedHost, AsyncDisposable {
  /**
   * Returns the host that connects to a server in this era, if the server supports it; otherwise the host of the other
   * era. Returns it at once if it is known.
   */
  hostOf(server: string, era: Era): Host | Promise<Host>;
  /** Makes the lists visible that another host has read from its servers. */
  follow(other: Host): void;
  hosts(): readonly Host[];
}

export async function createSharedHosts(
  open: (hooks: HostHooks) => Promise<Host>,
  clock: Pick<Clock, "after">,
): Promise<SharedHosts> {
  const host = await openShared();
  const news = createListNews(host, clock);
  // Also if no server has changed, because the profile of a client may have changed.
  reloadOnChange(host, () => news.changed(["tools", "prompts", "resources"]));
  /** For clients of the legacy era, to servers that know both eras. */
  let legacy: Promise<Host> | undefined;
  const opened: Host[] = [host];
  /** The host for requests of legacy clients, by server; set when the server's eras are known. */
  const forLegacy = new Map<string, Host | Promise<Host>>();
  const usedByModern = new Set<string>();
  host.on("servers", () => forLegacy.clear());

  async function openShared(era?: Era): Promise<Host> {
    const made: Host = await open({
      // Declares only what some client can answer. The question is refused if the client of its request cannot.
      declare: { elicitation: true, sampling: true, roots: false },
      onQuestion: async (server, method) => {
        made.noteAsksBack(server);
        throw new Error(`${method} of "${server}" was not answered: it belongs to no open request of a client`);
      },
      ...(era && { era }),
    });
    return made;
  }

  async function openLegacy(): Promise<Host> {
    const made = await openShared("legacy");
    opened.push(made);
    follow(made);
    return made;
  }

  function follow(other: Host): void {
    const adopt = (server: string): void => {
      const listing = other.listing(server);
      if (listing !== undefined) host.adopt(server, listing);
    };
    reloadOnChange(other);
    other.on("state", ({ state }) => {
      if (state.status !== "connected" || state.offer === undefined) return;
      const isNew = host.catalog(state.name) === undefined;
      adopt(state.name);
      if (isNew) news.changed(["tools", "prompts", "resources"], state.name);
    });
    other.on("catalog", ({ lists, server }) => {
      adopt(server);
      news.read(lists, server);
    });
    other.on("list_changed", ({ list, server }) => news.announce(list, server));
    other.on("resource_updated", ({ server, uri }) => news.updated(server, uri));
  }

  /** Finds out whether the server also supports the legacy era. A server that cannot be connected keeps its host. */
  async function chooseForLegacy(server: string): Promise<Host> {
    // A server without a cached catalog is connected by its first request.
    if (host.serverFacts(server)?.era !== "modern" || host.shareOf(server) !== "all") return host;
    legacy ??= openLegacy().catch((error: unknown) => {
      // The next request tries again.
      legacy = undefined;
      throw error;
    });
    const other = await legacy;
    await other.start({ servers: [server] });
    if (eraOf(other, server) !== "legacy") {
      await other.stop([server]);
      return host;
    }
    // The server was connected only to find out its eras.
    if (!usedByModern.has(server)) await host.stop([server]);
    return other;
  }

  async function findForLegacy(server: string): Promise<Host> {
    const choice = chooseForLegacy(server);
    const choosing = choice.catch(() => host);
    forLegacy.set(server, choosing);
    const [{ status }] = await Promise.allSettled([choice]);
    const chosen = await choosing;
    if (forLegacy.get(server) !== choosing) return chosen;
    // If no connection could be made, the server's protocol era is still unknown: the next request tries again.
    if (status === "rejected" || eraOf(chosen, server) === undefined) forLegacy.delete(server);
    else forLegacy.set(server, chosen);
    return chosen;
  }

  return {
    host,
    news,
    hostOf(server, era) {
      if (era === "legacy") return forLegacy.get(server) ?? findForLegacy(server);
      usedByModern.add(server);
      return host;
    },
    follow,
    hosts: () => opened,
    async [Symbol.asyncDispose]() {
      news.close();
      await legacy?.catch(() => undefined);
      await Promise.all(opened.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

/** The era in which the server is connected; undefined if it is not connected. */
function eraOf(host: Host, server: string): Era | undefined {
  const state = host.states().find(({ name }) => name === server);
  return state?.status === "connected" ? state.peer.era : undefined;
}

/** Settings that cannot be read change nothing. */
function reloadOnChange(host: Host, onReloaded: () => void = () => {}): void {
  host.on("settings_changed", () => void host.reload().then(onReloaded, () => {}));
}
