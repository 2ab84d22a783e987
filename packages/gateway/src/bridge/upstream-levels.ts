/** Chooses the log level that the gateway requests from legacy servers: the lowest level that any client wants. */

import type { RequestingClient } from "@fairlead/core/host/gateway-types";
import type { Host } from "@fairlead/core/host/types";
import { lowest } from "./log-levels.ts";

/** The client's request that the gateway is about to send to a server. */
interface LevelRequest {
  /** The log level that a modern client sends with the request. */
  readonly logLevel: string | undefined;
  readonly signal: AbortSignal;
}

export interface UpstreamLevels {
  /** Sets the log level that a client wants. `undefined` means that the client has disconnected. */
  set(conversation: string, level: string | undefined): void;
  /**
   * Sends `logging/setLevel` with the lowest level that any client wants, unless the connected server already has this
   * level. Does not wait for the answer, so that a slow server does not delay the client's request.
   */
  apply(host: Host, server: string, client: RequestingClient, request: LevelRequest): void;
}

/** How long a server may take to set its log level, in milliseconds. */
const timeout = 10_000;

export function createUpstreamLevels(): UpstreamLevels {
  const wanted = new Map<string, string>();
  /**
   * The last level that was requested from each server. `since` is the start of the connection to which the request was
   * sent.
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
    // Errors are ignored, because the gateway also filters the log messages for each client.
    const sent = host.forward({ client, server, method: "logging/setLevel", params: { level } }, { signal, timeout });
    const [{ status }] = await Promise.allSettled([sent]);
    // When the client cancels its request, `logging/setLevel` is cancelled too. The next request of a client then sends
    // it again.
    if (status === "rejected" && signal.aborted && levels.get(server) === entry) levels.delete(server);
  }
}
