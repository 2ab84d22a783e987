/** Manages the clients of all servers of a host. */

import { type Clock, systemClock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { type HostEvent, MCPDiscoveryState, type ServerChanges, type ServerState } from "../events.ts";
import { closest } from "../text/closest.ts";
import type { Connection } from "./connection.ts";
import { compareServers, type ManagedServer, type StartableServer, stateOf } from "./managed-server.ts";
import { createRecoveries, type Recoveries } from "./recoveries.ts";
import { notConnectedError } from "./server-state.ts";
import { createStartLimit, type StartLimit } from "./start-limit.ts";
import { unlessAborted } from "./unless-aborted.ts";

export type { ManagedServer, StartableServer } from "./managed-server.ts";

/** Options of `ServerManager`. */
export interface ServerManagerOptions {
  /** All servers in the order of the settings, including servers that are not allowed to start. Names are unique. */
  readonly servers: readonly ManagedServer[];
  readonly emit?: (event: HostEvent) => void;
  /** How many programs may start at the same time; 4 by default. */
  readonly startLimit?: number;
  /** Whether to reconnect servers whose connection ended, and to read changed lists again. Default: false. */
  readonly recover?: boolean;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** The wall clock, in milliseconds since 1970; `Date.now` by default. */
  readonly now?: () => number;
}

interface Attempt {
  readonly stop: AbortController;
  readonly done: Promise<Connection>;
}

/** If a program takes longer than this to start (in milliseconds), the next program may start too. */
const slotTimeout = 2000;

/** Connects all servers in parallel, reconnects them, and stops them. A failed server does not affect the others. */
export class ServerManager {
  #servers: ReadonlyMap<string, ManagedServer>;
  readonly #recoveries: Recoveries | undefined;
  readonly #emit: (event: HostEvent) => void;
  readonly #startLimit: StartLimit;
  readonly #attempts = new Map<string, Attempt>();
  readonly #endings = new Map<string, Promise<void>>();
  /**
   * Servers that are restarting, by name. The object identifies the restart, because a later restart may replace it.
   */
  readonly #restarts = new Map<string, object>();
  #discovery: MCPDiscoveryState = MCPDiscoveryState.NOT_STARTED;
  #discoveriesUnderWay = 0;
  #isClosed = false;

  constructor(options: ServerManagerOptions) {
    const { servers, emit = () => {}, startLimit = 4, recover = false, clock = systemClock } = options;
    const { random = Math.random, now = Date.now } = options;
    const reconnect = (client: Connection): void => void this.#reconnect(client);
    this.#servers = new Map(servers.map((server) => [stateOf(server).name, server]));
    this.#recoveries = recover ? createRecoveries({ reconnect, clock, random, now }) : undefined;
    this.#emit = emit;
    this.#startLimit = createStartLimit({ limit: startLimit, slotTimeout, clock });
    for (const server of this.#startable()) this.#recoveries?.add(server);
  }

  getDiscoveryState(): MCPDiscoveryState {
    return this.#discovery;
  }

  states(): readonly ServerState[] {
    return [...this.#servers.values()].map(stateOf);
  }

  /** Clients of all servers that are allowed to start. */
  clients(): readonly Connection[] {
    return this.#startable().map(({ client }) => client);
  }

  /**
   * The client of a server; undefined if the server is not allowed to start.
   *
   * @throws HostError `server_unknown`
   */
  getClient(name: string): Connection | undefined {
    const server = this.#find(name);
    return "client" in server ? server.client : undefined;
  }

  /**
   * Connects to all servers except lazy ones. Resolves when each server is connected or has failed; the server's state
   * says which.
   */
  discoverAllMcpTools(): Promise<void> {
    return this.#discover(this.#startable().filter(({ isLazy = false }) => !isLazy));
  }

  /**
   * Connects to the named servers, including lazy ones; without names, to all servers. Connected servers keep their
   * connection.
   */
  async start(names?: string | readonly string[]): Promise<void> {
    await this.#discover(this.#startable(names));
  }

  /**
   * Disconnects the servers and connects them again. Pending calls of `ready` wait for the new connection. A server
   * that is stopped meanwhile stays stopped.
   */
  async restart(names?: string | readonly string[]): Promise<void> {
    const restart = {};
    const servers = this.#startable(names);
    const ended = servers.map((server) => this.#end(server));
    for (const { client } of servers) this.#restarts.set(client.name, restart);
    await Promise.all(ended);
    await this.#discover(servers.filter(({ client }) => this.#restarts.has(client.name)));
    for (const [name, latest] of this.#restarts) if (latest === restart) this.#restarts.delete(name);
  }

  /**
   * Replaces the servers. A server with an unchanged fingerprint keeps its connection; the others are disconnected.
   * Starts no new server. Resolves when the old connections are closed.
   */
  async update(servers: readonly ManagedServer[]): Promise<ServerChanges> {
    const { servers: next, ...changes } = compareServers(this.#servers, servers);
    const leaving = this.#startable([...changes.replaced, ...changes.removed]);
    this.#servers = next;
    for (const { client } of leaving) this.#recoveries?.remove(client.name);
    for (const server of this.#startable([...changes.replaced, ...changes.added])) this.#recoveries?.add(server);
    const ended = leaving.map((server) => this.#end(server));
    this.#emit({ type: "servers", ...changes });
    await Promise.all(ended);
    return changes;
  }

  /** Disconnects the named servers; without names, all servers. Resolves when their connections are closed. */
  async stop(names?: string | readonly string[]): Promise<void> {
    if (names === undefined) this.#recoveries?.stop();
    await Promise.all(this.#startable(names).map((server) => this.#end(server)));
  }

  /** Stops all servers. No server can be started afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
  }

  /** The client of a connected server whose catalog was read; otherwise undefined. */
  connected(name: string): Connection | undefined {
    const server = this.#servers.get(name);
    return server && "client" in server && this.#isUsable(server.client) ? server.client : undefined;
  }

  /**
   * Connects the server if needed, reads its catalog, and returns the client. Concurrent callers share one attempt.
   * Rejects with a `HostError` if the server cannot be connected.
   */
  async ready(name: string, signal?: AbortSignal): Promise<Connection> {
    const server = this.#find(name);
    if (!("client" in server)) throw notConnectedError(server.state);
    const { state } = server.client;
    // The caller may be a model. Only a person may restart a server that failed too often or sent too much.
    if (state.status === "disconnected" && (state.reason === "start_limit" || state.reason === "flooding"))
      throw notConnectedError(state);
    return unlessAborted(this.#attemptUntilSettled(server), signal, () => cancelled(name));
  }

  /** Connects. If a restart cancels the attempt, tries again. */
  async #attemptUntilSettled(server: StartableServer): Promise<Connection> {
    for (;;) {
      try {
        return await this.#attempt(server);
      } catch (error) {
        const isCancelled = error instanceof HostError && error.code === "cancelled";
        if (!isCancelled || !this.#restarts.has(server.client.name)) throw error;
      }
    }
  }

  async #discover(servers: readonly StartableServer[]): Promise<void> {
    this.#discoveriesUnderWay += 1;
    this.#setDiscovery(MCPDiscoveryState.IN_PROGRESS);
    for (const { client } of servers) this.#recoveries?.resetHistory(client.name);
    await Promise.allSettled(servers.map((server) => this.#attempt(server)));
    this.#discoveriesUnderWay -= 1;
    if (this.#discoveriesUnderWay === 0) this.#setDiscovery(MCPDiscoveryState.COMPLETED);
  }

  #isUsable(client: Connection): boolean {
    return client.filteredCatalog !== undefined && !this.#endings.has(client.name);
  }

  #attempt(server: StartableServer): Promise<Connection> {
    const { client } = server;
    if (this.#isUsable(client)) return Promise.resolve(client);
    const running = this.#attempts.get(client.name);
    if (running) return running.done;
    if (this.#isClosed) return Promise.reject(cancelled(client.name));
    this.#recoveries?.watch();
    this.#recoveries?.cancel(client.name);
    const stop = new AbortController();
    const done = this.#connect(server, stop.signal).finally(() => {
      if (this.#attempts.get(client.name)?.stop === stop) this.#attempts.delete(client.name);
    });
    this.#attempts.set(client.name, { stop, done });
    return done;
  }

  /** Reconnects after a running attempt has ended. Does nothing if the server was replaced or stopped. */
  async #reconnect(client: Connection): Promise<void> {
    await Promise.allSettled([this.#attempts.get(client.name)?.done]);
    const server = this.#servers.get(client.name);
    const isWanted = server && "client" in server && server.client === client && !this.#endings.has(client.name);
    if (isWanted) await Promise.allSettled([this.#attempt(server)]);
  }

  async #connect({ client, isProgram = false }: StartableServer, signal: AbortSignal): Promise<Connection> {
    await this.#endings.get(client.name);
    signal.throwIfAborted();
    const leave = isProgram ? await this.#startLimit.acquire(signal) : undefined;
    try {
      // The user may have signed in meanwhile, so a server in the state `needs_auth` is disconnected first too.
      if (client.getStatus() !== "disconnected") await client.disconnect();
      await client.connect(signal);
      await client.discover(signal);
      return client;
    } finally {
      leave?.();
    }
  }

  /** Cancels a running attempt and disconnects the server. The next attempt waits until this is done. */
  #end({ client }: StartableServer): Promise<void> {
    const { name } = client;
    this.#restarts.delete(name);
    const attempt = this.#attempts.get(name);
    this.#attempts.delete(name);
    attempt?.stop.abort(cancelled(name));
    const ending = Promise.allSettled([attempt?.done, this.#endings.get(name)])
      .then(() => client.disconnect())
      .finally(() => {
        this.#recoveries?.cancel(name);
        if (this.#endings.get(name) === ending) this.#endings.delete(name);
      });
    this.#endings.set(name, ending);
    return ending;
  }

  #setDiscovery(state: MCPDiscoveryState): void {
    if (state === this.#discovery) return;
    this.#discovery = state;
    this.#emit({ type: "discovery", state });
  }

  #startable(names: string | readonly string[] = [...this.#servers.keys()]): readonly StartableServer[] {
    return [names]
      .flat()
      .map((name) => this.#find(name))
      .filter((server) => "client" in server);
  }

  #find(name: string): ManagedServer {
    const server = this.#servers.get(name);
    if (server) return server;
    const near = closest(name, this.#servers.keys());
    const message = `there is no server "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`;
    throw new HostError("server_unknown", message, { next: "fairlead mcp list" });
  }
}

function cancelled(serverName: string): HostError {
  return new HostError("cancelled", `"${serverName}" was not connected: cancelled`, { serverName });
}
