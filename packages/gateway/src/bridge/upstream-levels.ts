/** Sets the log level of legacy servers to the lowest level that any client wants. */

import type { GatewayHost, RequestingClient } from "@fairlead/core/host";
import type { Connection } from "@fairlead/core/server";
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
  apply(gateway: GatewayHost, connection: Connection, client: RequestingClient, request: LevelRequest): void;
}

/** Milliseconds that a server may take to set its log level. */
const timeout = 10_000;

/** Creates the record. At first no client wants a log level. */
export function createUpstreamLevels(): UpstreamLevels {
  const wanted = new Map<string, string>();
  /**
   * The last level sent on each connection. `session` identifies the session, because a new one starts without a level.
   */
  const asked = new WeakMap<Connection, { readonly session: string; readonly level: string }>();

  return {
    set(conversation, level) {
      if (level === undefined) wanted.delete(conversation);
      else wanted.set(conversation, level);
    },
    apply(gateway, connection, client, call) {
      const { logLevel } = call;
      if (wanted.size === 0 && logLevel === undefined) return;
      const level = lowest([...wanted.values(), ...(logLevel === undefined ? [] : [logLevel])]);
      if (level !== undefined) void request(gateway, connection, client, { level, signal: call.signal });
    },
  };

  async function request(
    gateway: GatewayHost,
    connection: Connection,
    client: RequestingClient,
    { level, signal }: { readonly level: string; readonly signal: AbortSignal },
  ): Promise<void> {
    const { state, connectionId: session, capabilities, name: server } = connection;
    if (state.status !== "connected" || state.peer.era === "modern" || session === undefined) return;
    if (capabilities["logging"] === undefined) return;
    const last = asked.get(connection);
    if (last?.session === session && last.level === level) return;
    const entry = { session, level };
    asked.set(connection, entry);
    // An error does no harm, because the gateway also filters the log messages for each client.
    const sent = gateway.forward(
      { client, server, method: "logging/setLevel", params: { level } },
      { signal, timeout, connection },
    );
    const [{ status }] = await Promise.allSettled([sent]);
    // Cancelling the client's request also cancelled `logging/setLevel`. Forgets the level, so that the next request
    // sends it again.
    if (status === "rejected" && signal.aborted && asked.get(connection) === entry) asked.delete(connection);
  }
}
