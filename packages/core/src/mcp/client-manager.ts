/** All servers of a host: starts them side by side, keeps one's failure from touching another, and ends them together. */

import { type Clock, systemClock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { type HostEvent, MCPDiscoveryState, type ServerChanges, type ServerState } from "../events.ts";
import { closest } from "../text/closest.ts";
import type { McpClient } from "./client.ts";
import { type ManagedServer, type StartableServer, stateOf } from "./managed-server.ts";
import { createRecoveries, type Recoveries } from "./recovery/recoveries.ts";
import { compareServers } from "./server-changes.ts";
import { notConnectedError } from "./server-state.ts";
import { createStartLimit, type StartLimit } from "./start-limit.ts";
import { unlessAborted } from "./unless-aborted.ts";

export type { ManagedServer, StartableServer } from "./managed-server.ts";

/** Options of `McpClientManager`. */
export interface McpClientManagerOptions {
  /** In the order of the settings, each name once; those that may not start stand there with their state. */
  readonly servers: readonly ManagedServer[];
  readonly emit?: (event: HostEvent) => void;
  /** How many programs may be starting at once. */
  readonly startLimit?: number;
  /** For hosts that stay: servers that end are brought back, and their lists kept up to date. */
  readonly recover?: boolean;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** The wall clock, in milliseconds since 1970; `Date.now` by default. */
  readonly now?: () => number;
  /** @deprecated The new name is `now`. */
  readonly today?: () => number;
}

interface Attempt {
  readonly stop: AbortController;
  readonly done: Promise<McpClient>;
}

/** Milliseconds after which a program that is still starting keeps nobody else from it. */
const slotTimeout = 2000;

/** Manages the clients of all servers: starts them in parallel, reconnects them, and stops them. A server that fails does not affect the others. */
export class McpClientManager {
  #servers: ReadonlyMap<string, ManagedServer>;
  readonly #recoveries: Recoveries | undefined;
  readonly #emit: (event: HostEvent) => void;
  readonly #startLimit: StartLimit;
  readonly #attempts = new Map<string, Attempt>();
  readonly #endings = new Map<string, Promise<void>>();
  /** Servers that end only to be started again, and the restart that sees to it. */
  readonly #restarts = new Map<string, object>();
  #discovery: MCPDiscoveryState = MCPDiscoveryState.NOT_STARTED;
  #discoveriesUnderWay = 0;
  #isClosed = false;

  constructor(options: McpClientManagerOptions) {
    const { servers, emit = () => {}, startLimit = 4, recover = false, clock = systemClock } = options;
    const { random = Math.random, now = options.today ?? Date.now } = options;
    const tryAgain = (client: McpClient): void => void this.#tryAgain(client);
    this.#servers = new Map(servers.map((server) => [stateOf(server).name, server]));
    this.#recoveries = recover ? createRecoveries({ tryAgain, clock, random, now }) : undefined;
    this.#emit = emit;
    this.#startLimit = createStartLimit({ limit: startLimit, slotTimeout, clock });
    for (const server of this.#startable()) this.#recoveries?.adopt(server);
  }

  getDiscoveryState(): MCPDiscoveryState {
    return this.#discovery;
  }

  states(): readonly ServerState[] {
    return [...this.#servers.values()].map(stateOf);
  }

  /** Of all servers that may start. */
  clients(): readonly McpClient[] {
    return this.#startable().map(({ client }) => client);
  }

  /** Undefined for a server that may not start. */
  getClient(name: string): McpClient | undefined {
    return this.#startable(name)[0]?.client;
  }

  /** Connects to all servers but those that wait for their first use. Resolves when each has answered or failed; its state says which. */
  discoverAllMcpTools(): Promise<void> {
    return this.#discover(this.#startable().filter(({ isLazy = false }) => !isLazy));
  }

  /** One, some, or all, those that wait for their first use too. What is connected already is left alone. */
  async start(names?: string | readonly string[]): Promise<void> {
    await this.#discover(this.#startable(names));
  }

  /** Ends them first, whatever they are in the middle of; who waits for them waits on. What is stopped meanwhile stays so. */
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
   * Takes these in the place of what was there. Who has the fingerprint of before is left alone, whatever it is doing; the others
   * of before are ended, and nothing new is started. Resolves when nothing of those is left.
   */
  async update(servers: readonly ManagedServer[]): Promise<ServerChanges> {
    const { servers: next, ...changes } = compareServers(this.#servers, servers);
    const leaving = this.#startable([...changes.replaced, ...changes.removed]);
    this.#servers = next;
    for (const { client } of leaving) this.#recoveries?.release(client.name);
    for (const server of this.#startable([...changes.replaced, ...changes.added])) this.#recoveries?.adopt(server);
    const ended = leaving.map((server) => this.#end(server));
    this.#emit({ type: "servers", ...changes });
    await Promise.all(ended);
    return changes;
  }

  /** Resolves when nothing of them is left; without names, of any server. */
  async stop(names?: string | readonly string[]): Promise<void> {
    if (names === undefined) this.#recoveries?.rest();
    await Promise.all(this.#startable(names).map((server) => this.#end(server)));
  }

  /** Stops all servers for good: no connection begins after this. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
  }

  /** The server's client, connected and discovered; rejects with the reason why that cannot be. Callers share one attempt. */
  async ready(name: string, signal?: AbortSignal): Promise<McpClient> {
    const server = this.#find(name);
    if (!("client" in server)) throw notConnectedError(server.state);
    const { state } = server.client;
    // Whoever calls it may be a model: only a person starts it once more.
    if (state.status === "disconnected" && state.reason === "start_limit") throw notConnectedError(state);
    return unlessAborted(this.#lastingAttempt(server), signal, () => cancelled(name));
  }

  /** One that a restart calls off is made once more: whoever waits for it has cancelled nothing. */
  async #lastingAttempt(server: StartableServer): Promise<McpClient> {
    for (;;) {
      try {
        return await this.#attempt(server);
      } catch (error) {
        const isCalledOff = error instanceof HostError && error.code === "cancelled";
        if (!isCalledOff || !this.#restarts.has(server.client.name)) throw error;
      }
    }
  }

  async #discover(servers: readonly StartableServer[]): Promise<void> {
    this.#discoveriesUnderWay += 1;
    this.#tell(MCPDiscoveryState.IN_PROGRESS);
    for (const { client } of servers) this.#recoveries?.forgive(client.name);
    await Promise.allSettled(servers.map((server) => this.#attempt(server)));
    this.#discoveriesUnderWay -= 1;
    if (this.#discoveriesUnderWay === 0) this.#tell(MCPDiscoveryState.COMPLETED);
  }

  #attempt(server: StartableServer): Promise<McpClient> {
    const { client } = server;
    if (client.filteredCatalog && !this.#endings.has(client.name)) return Promise.resolve(client);
    const running = this.#attempts.get(client.name);
    if (running) return running.done;
    if (this.#isClosed) return Promise.reject(cancelled(client.name));
    this.#recoveries?.watch();
    this.#recoveries?.callOff(client.name);
    const stop = new AbortController();
    const done = this.#connect(server, stop.signal).finally(() => {
      if (this.#attempts.get(client.name)?.stop === stop) this.#attempts.delete(client.name);
    });
    this.#attempts.set(client.name, { stop, done });
    return done;
  }

  /** When whoever tries it now has failed, unless it is not wanted any more. */
  async #tryAgain(client: McpClient): Promise<void> {
    await Promise.allSettled([this.#attempts.get(client.name)?.done]);
    const server = this.#servers.get(client.name);
    const isWanted = server && "client" in server && server.client === client && !this.#endings.has(client.name);
    if (isWanted) await Promise.allSettled([this.#attempt(server)]);
  }

  async #connect({ client, isProgram = false }: StartableServer, signal: AbortSignal): Promise<McpClient> {
    await this.#endings.get(client.name);
    signal.throwIfAborted();
    const leave = isProgram ? await this.#startLimit.acquire(signal) : undefined;
    try {
      // What is left of an earlier connection ends first; and a request to sign in may have been answered since.
      if (client.getStatus() !== "disconnected") await client.disconnect();
      await client.connect(signal);
      await client.discover(signal);
      return client;
    } finally {
      leave?.();
    }
  }

  /** Calls off an attempt, ends a connection; an attempt that is made meanwhile waits for it. */
  #end({ client }: StartableServer): Promise<void> {
    const { name } = client;
    this.#restarts.delete(name);
    const attempt = this.#attempts.get(name);
    this.#attempts.delete(name);
    attempt?.stop.abort(cancelled(name));
    const ending = Promise.allSettled([attempt?.done, this.#endings.get(name)])
      .then(() => client.disconnect())
      .finally(() => {
        this.#recoveries?.callOff(name);
        if (this.#endings.get(name) === ending) this.#endings.delete(name);
      });
    this.#endings.set(name, ending);
    return ending;
  }

  #tell(state: MCPDiscoveryState): void {
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
