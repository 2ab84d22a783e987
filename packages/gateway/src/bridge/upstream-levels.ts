/** The log level that servers of the legacy era are asked for: the lowest that any client wants. */

import type { Host } from "@fairlead/core/host/types";
import { lowest } from "./log-levels.ts";

export interface UpstreamLevels {
  /** Sets the level that a client wants; undefined: it has gone. */
  set(conversation: string, level: string | undefined): void;
  /**
   * Asks a connected server for the lowest level, if it was asked for another one before.
   *
   * @param requested The level of one request of a modern client.
   */
  apply(
    host: Host,
    server: string,
    client: { readonly name: string; readonly conversation: string },
    requested: string | undefined,
  ): Promise<void>;
}

export function createUpstreamLevels(): UpstreamLevels {
  const wanted = new Map<string, string>();
  /** What each connection was asked for; a new connection is another object. */
  const asked = new WeakMap<Host, Map<string, { readonly since: number; readonly level: string }>>();

  return {
    set(conversation, level) {
      if (level === undefined) wanted.delete(conversation);
      else wanted.set(conversation, level);
    },
    async apply(host, server, client, requested) {
      const level = lowest([...wanted.values(), ...(requested === undefined ? [] : [requested])]);
      const state = host.states().find(({ name }) => name === server);
      if (level === undefined || state?.status !== "connected" || state.peer.era === "modern") return;
      if (host.serverFacts(server)?.capabilities["logging"] === undefined) return;
      const levels = asked.get(host) ?? new Map<string, { readonly since: number; readonly level: string }>();
      asked.set(host, levels);
      const last = levels.get(server);
      if (last?.since === state.since && last.level === level) return;
      levels.set(server, { since: state.since, level });
      // A server that refuses the level sends what it likes: its messages are filtered for each client anyway.
      await Promise.allSettled([host.forward({ client, server, method: "logging/setLevel", params: { level } }, {})]);
    },
  };
}
