/** Sets the log level of legacy servers to the lowest level that any client wants. */

import type { RequestingClient } from "@fairlead/core/host/gateway-types";
import type { Host } from "@fairlead/core/host/types";
import { lowest } from "./log-levels.ts";

interface LevelRequest {
  /** The log level that the client of the request wants. */
  readonly logLevel: string | undefined;
  readonly signal: AbortSignal;
}

/** The log levels that clients want, and the levels that servers have. */
export interface UpstreamLevels {
  /** Stores the log level that a client wants. `undefined`: the client has disconnected. */
  set(conversation: string, level: string | undefined): void;
  /**
   * Sends `logging/setLevel` to a connected legacy server, unless it already has the level. Does not wait for the
   * answer, so that the client's request is not delayed.
   */
  apply(host: Host, server: string, client: RequestingClient, request: LevelRequest): void;
}

/** Milliseconds that a server may take to set its log level. */
const timeout = 10_000;

/** Creates the record. At first no client wants a log level. */
export function createUpstreamLevels(): UpstreamLevels {
  const wanted = new Map<string, string>();
  /**
   * The last level sent to each server. `since` identifies the connection, because a new connection starts without a
   * level.
   */
  const asked = new WeakMap<Host, Map<string, { readonly since: number; readonly level: string }>>();

  return {
    set(conversation, level) {
      if (level === undefined) wanted.delete(conversation);
      else wanted.set(conversation, level);
    },
    apply(host, server, client, call) {
      const { logLevel } = call;
      if (wanted.size === 0 && logLevel === undefined) return;
      const level = lowest([...wanted.values(), ...(logLevel === undefined ? [] : [logLevel])]);
      if (level !== undefined) void request(host, server, client, { level, signal: call.signal });
    },
  };

  async function request(
    host: Host,
    server: string,
    client: RequestingClient,
    { level, signal }: { readonly level: string; readonly signal: AbortSignal },
  ): Promise<void> {
    const state = host.states().find(({ name }) => name === server);
    if (state?.status !== "connected" || state.peer.era === "modern") return;
    if (host.serverFacts(server)?.capabilities["logging"] === undefined) return;
    const levels = asked.get(host) ?? new Map<string, { readonly since: number; readonly level: string }>();
    asked.set(host, levels);
    const last = levels.get(server);
    if (last?.since === state.since && last.level === level) return;
    const entry = { since: state.since, level };
    levels.set(server, entry);
    // An error does no harm, because the gateway also filters the log messages for each client.
    const sent = host.forward({ client, server, method: "logging/setLevel", params: { level } }, { signal, timeout });
    const [{ status }] = await Promise.allSettled([sent]);
    // Cancelling the client's request also cancelled `logging/setLevel`. Forgets the level, so that the next request
    // sends it again.
    if (status === "rejected" && signal.aborted && levels.get(server) === entry) levels.delete(server);
  }
}
