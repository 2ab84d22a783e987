/** Chooses the log level that the gateway requests from legacy servers: the lowest level that any client wants. */

import type { RequestingClient } from "@fairlead/core/host/gateway-types";
import type { Host } from "@fairlead/core/host/types";
import { lowest } from "./log-levels.ts";

export interface UpstreamLevels {
  /** Sets the level that a client wants; undefined when the client has disconnected. */
  set(conversation: string, level: string | undefined): void;
  /**
   * Requests the lowest level from a connected server, unless that level was requested before. Undefined if no client
   * wants a level.
   *
   * @param requested The level in one request of a modern client.
   */
  apply(host: Host, server: string, client: RequestingClient, requested: string | undefined): Promise<void> | undefined;
}

export function createUpstreamLevels(): UpstreamLevels {
  const wanted = new Map<string, string>();
  /** The level that was requested on each connection, by connection object. */
  const asked = new WeakMap<Host, Map<string, { readonly since: number; readonly level: string }>>();

  return {
    set(conversation, level) {
      if (level === undefined) wanted.delete(conversation);
      else wanted.set(conversation, level);
    },
    apply(host, server, client, requested) {
      if (wanted.size === 0 && requested === undefined) return undefined;
      return applyLowest(
        host,
        server,
        client,
        lowest([...wanted.values(), ...(requested === undefined ? [] : [requested])]),
      );
    },
  };

  async function applyLowest(
    host: Host,
    server: string,
    client: RequestingClient,
    level: string | undefined,
  ): Promise<void> {
    const state = host.states().find(({ name }) => name === server);
    if (level === undefined || state?.status !== "connected" || state.peer.era === "modern") return;
    if (host.serverFacts(server)?.capabilities["logging"] === undefined) return;
    const levels = asked.get(host) ?? new Map<string, { readonly since: number; readonly level: string }>();
    asked.set(host, levels);
    const last = levels.get(server);
    if (last?.since === state.since && last.level === level) return;
    levels.set(server, { since: state.since, level });
    // If a server refuses the level, it may send any messages: the gateway filters them for each client.
    await Promise.allSettled([host.forward({ client, server, method: "logging/setLevel", params: { level } }, {})]);
  }
}
