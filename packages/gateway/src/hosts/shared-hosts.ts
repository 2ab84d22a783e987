/**
 * The hosts that all clients of a workspace share. A server that speaks both protocol eras is spoken to in the era of
 * the client, because many tools work in one era only; a server that speaks one era has one process for all clients.
 */

import type { Clock } from "@fairlead/core/clock";
import type { Host } from "@fairlead/core/host/types";
import type { Era } from "@fairlead/wire";
import { createListNews, type ListNews } from "../lists/list-news.ts";
import type { HostHooks } from "./gateway-host.ts";

/** The host whose lists clients see, with the news of its lists. */
export interface SharedHost {
  readonly host: Host;
  readonly news: ListNews;
}

export interface SharedHosts extends SharedHost, AsyncDisposable {
  /** The host that speaks to a server in this era, if the server knows the era; else the host that speaks to it. */
  hostOf(server: string, era: Era): Promise<Host>;
  /** Shows the lists of servers that another host has connected. */
  follow(other: Host): void;
  hosts(): readonly Host[];
}

export async function createSharedHosts(
  open: (hooks: HostHooks) => Promise<Host>,
  clock: Pick<Clock, "after">,
): Promise<SharedHosts> {
  const host = await openShared();
  const news = createListNews(host, clock);
  // Also without changed servers: the profile of a client may be another one.
  reloadOnChange(host, () => news.changed(["tools", "prompts", "resources"]));
  /** For clients of the legacy era, to servers that know both eras. */
  let legacy: Promise<Host> | undefined;
  const opened: Host[] = [host];
  /** Where requests of legacy clients go, by server; set once the server's eras are known. */
  const forLegacy = new Map<string, Promise<Host>>();
  const usedByModern = new Set<string>();
  host.on("servers", () => forLegacy.clear());

  async function openShared(era?: Era): Promise<Host> {
    const made: Host = await open({
      // Only what can be answered for some client: a question is refused if the client of its request cannot answer it.
      declare: { elicitation: true, sampling: true, roots: false },
      onQuestion: async (server, method) => {
        made.noteAsksBack(server);
        throw new Error(`${method} of "${server}" was not answered: which client is meant cannot be told`);
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

  /** Finds out whether the server also speaks the legacy era. A server that cannot be connected stays where it is. */
  async function chooseForLegacy(server: string): Promise<Host> {
    // A server of which nothing is known yet is connected by its first request.
    if (host.serverFacts(server)?.era !== "modern" || host.shareOf(server) !== "all") return host;
    legacy ??= openLegacy();
    const other = await legacy;
    await other.start({ servers: [server] });
    if (eraOf(other, server) !== "legacy") {
      await other.stop([server]);
      return host;
    }
    // It was connected only to find out what it has.
    if (!usedByModern.has(server)) await host.stop([server]);
    return other;
  }

  return {
    host,
    news,
    async hostOf(server, era) {
      if (era === "modern") {
        usedByModern.add(server);
        return host;
      }
      const known = forLegacy.get(server);
      if (known !== undefined) return known;
      const choosing = chooseForLegacy(server);
      forLegacy.set(server, choosing);
      const chosen = await choosing.catch(() => host);
      // Without a connection nothing is known: the next request tries again.
      if (eraOf(chosen, server) === undefined) forLegacy.delete(server);
      return chosen;
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
