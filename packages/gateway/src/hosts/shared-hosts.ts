/**
 * The hosts that all clients of a workspace share. If a server supports both protocol eras, each client gets a
 * connection in its own era, because many tools work in one era only. If a server supports one era, all clients share
 * one connection.
 */

import type { Clock } from "@fairlead/core/clock";
import type { Host } from "@fairlead/core/host/types";
import type { Era } from "@fairlead/wire";
import { createListNews, type ListNews } from "../lists/list-news.ts";
import type { HostHooks } from "./gateway-host.ts";

/** The host whose lists clients see, and the source of notifications about changes of these lists. */
export interface SharedHost {
  readonly host: Host;
  readonly news: ListNews;
  /** By server: the time at which a list request started the server, in milliseconds of the clock. */
  readonly firstStarts: Map<string, number>;
}

export interface SharedHosts extends SharedHost, AsyncDisposable {
  /**
   * Returns the host for requests to a server. The host uses the protocol era `era` if the server supports it. Returns
   * a promise if the host must first be found.
   */
  hostOf(server: string, era: Era): Host | Promise<Host>;
  /** Adds the lists that the host `other` reads to the lists that clients see. */
  follow(other: Host): void;
  hosts(): readonly Host[];
}

export async function createSharedHosts(
  open: (hooks: HostHooks) => Promise<Host>,
  clock: Pick<Clock, "after">,
): Promise<SharedHosts> {
  const host = await openShared();
  const news = createListNews(host, clock);
  // After any change of the settings, clients are told that their lists have changed, because their profiles may have
  // changed.
  reloadOnChange(host, () => news.changed(["tools", "prompts", "resources"]));
  /** The host through which legacy clients use the servers that support both protocol eras. */
  let legacy: Promise<Host> | undefined;
  const opened: Host[] = [host];
  /**
   * For each server, the host that legacy clients use. An entry is kept only while the server's protocol era is known.
   */
  const forLegacy = new Map<string, Host | Promise<Host>>();
  const usedByModern = new Set<string>();
  host.on("servers", () => forLegacy.clear());

  async function openShared(era?: Era): Promise<Host> {
    const made: Host = await open({
      // Some clients support neither elicitation nor sampling. A question for such a client fails.
      declare: { elicitation: true, sampling: true, roots: false },
      onQuestion: async (server, method) => {
        made.noteAsksBack(server);
        throw new Error(
          `${method} of the server "${server}" was not answered: Fairlead cannot tell to which client's request it belongs`,
        );
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

  /**
   * Returns the host for legacy clients of a server. This is the legacy host if the server supports the legacy era.
   * Otherwise, all clients use the same host.
   */
  async function chooseForLegacy(server: string): Promise<Host> {
    // A legacy server, and a server that is not shared, need no second host.
    if (host.serverFacts(server)?.era !== "modern" || host.shareOf(server) !== "all") return host;
    legacy ??= openLegacy().catch((error: unknown) => {
      // The next request tries to create the host again.
      legacy = undefined;
      throw error;
    });
    const other = await legacy;
    await other.start({ servers: [server] });
    if (eraOf(other, server) !== "legacy") {
      await other.stop([server]);
      return host;
    }
    // No modern client uses the modern connection, so it is closed.
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
    // Fairlead could not connect to the server, so the next request tries again.
    if (status === "rejected" || eraOf(chosen, server) === undefined) forLegacy.delete(server);
    else forLegacy.set(server, chosen);
    return chosen;
  }

  return {
    host,
    news,
    firstStarts: new Map(),
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

/** Returns the protocol era in which the server is connected. Returns undefined if it is not connected. */
function eraOf(host: Host, server: string): Era | undefined {
  const state = host.states().find(({ name }) => name === server);
  return state?.status === "connected" ? state.peer.era : undefined;
}

/** Reloads the host when the settings change. If the new settings cannot be read, the host keeps the old ones. */
function reloadOnChange(host: Host, onReloaded: () => void = () => {}): void {
  host.on("settings_changed", () => void host.reload().then(onReloaded, () => {}));
}
