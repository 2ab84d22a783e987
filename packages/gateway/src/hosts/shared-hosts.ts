/**
 * The hosts that all clients of a workspace share. A server that supports both protocol eras gets one connection for
 * each era that its clients use, because many tools work in one era only.
 */

import type { Clock } from "@fairlead/core/clock";
import type { Host } from "@fairlead/core/host/types";
import type { Era } from "@fairlead/wire";
import { createListNews, type ListNews } from "../lists/list-news.ts";
import type { HostHooks } from "./gateway-host.ts";

/** The host whose lists the clients see, and the notifications about their changes. */
export interface SharedHost {
  readonly host: Host;
  readonly news: ListNews;
  /** When a list request first started each server, in milliseconds of the clock. */
  readonly firstStarts: Map<string, number>;
}

/** The shared hosts of one workspace. Dispose it to close them. */
export interface SharedHosts extends SharedHost, AsyncDisposable {
  /**
   * Returns the host for requests to a server, in the client's era if the server supports it. Returns a promise only if
   * the host must be found first.
   */
  hostOf(server: string, era: Era): Host | Promise<Host>;
  /** Also shows clients the lists that `other` reads from its servers. */
  follow(other: Host): void;
  hosts(): readonly Host[];
}

/** Opens the common host. A second host is opened when a legacy client needs it. */
export async function createSharedHosts(
  open: (hooks: Omit<HostHooks, "greeting">) => Promise<Host>,
  clock: Pick<Clock, "after">,
): Promise<SharedHosts> {
  const host = await openShared();
  const news = createListNews(host, clock);
  // The settings may have changed what a client may use, so all lists may have changed.
  reloadOnChange(host, () => news.changed(["tools", "prompts", "resources"]));
  /** A second host, for legacy clients of servers that support both eras. */
  let legacy: Promise<Host> | undefined;
  const opened: Host[] = [host];
  /** The host that legacy clients use for a server. A promise until the server's era is known. */
  const forLegacy = new Map<string, Host | Promise<Host>>();
  const usedByModern = new Set<string>();
  host.on("servers", () => forLegacy.clear());

  async function openShared(era?: Era): Promise<Host> {
    const made: Host = await open({
      // Not all clients support these. A server's question to such a client fails.
      declare: { elicitation: true, sampling: true, roots: false },
      onQuestion: async (server, method) => {
        made.noteAsksBack(server);
        throw new Error(`"${server}" sent ${method}, but Fairlead cannot tell which of its clients should answer`);
      },
      era,
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

  /** Returns the second host if the server also supports the legacy era, otherwise the common host. */
  async function chooseForLegacy(server: string): Promise<Host> {
    // Legacy servers and servers that are not shared need no second host.
    if (host.serverFacts(server)?.era !== "modern" || host.shareOf(server) !== "all") return host;
    legacy ??= openLegacy().catch((error: unknown) => {
      // Lets the next request try again.
      legacy = undefined;
      throw error;
    });
    const other = await legacy;
    await other.start({ servers: [server] });
    if (eraOf(other, server) !== "legacy") {
      await other.stop([server]);
      return host;
    }
    // No modern client needs the modern connection.
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
    // The server is not connected, so the next request tries again.
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

/** Returns undefined if the server is not connected. */
function eraOf(host: Host, server: string): Era | undefined {
  const state = host.states().find(({ name }) => name === server);
  return state?.status === "connected" ? state.peer.era : undefined;
}

/** If the new settings cannot be read, the host keeps the old ones. */
function reloadOnChange(host: Host, onReloaded: () => void = () => {}): void {
  host.on("settings_changed", () => void host.reload().then(onReloaded, () => {}));
  // The host itself has applied what the IDE reports.
  host.on("ide_trust_changed", onReloaded);
}
