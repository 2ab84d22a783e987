/** All servers of a host: starts them side by side, keeps one's failure from touching another, and ends them together. */

import { type Clock, systemClock } from "../clock.ts";
import { HostError } from "../errors.ts";
import { type HostEvent, MCPDiscoveryState, type ServerState } from "../events.ts";
import { closest } from "../text/closest.ts";
import type { McpClient } from "./client.ts";
import { refusal } from "./server-state.ts";
import { createStartPlaces, type StartPlaces } from "./start-places.ts";
import { unlessAborted } from "./unless-aborted.ts";

export type ManagedServer = StartableServer | { readonly state: ServerState };

export interface StartableServer {
  readonly client: McpClient;
  /** Connected only when named, or when first used. */
  readonly isLazy?: boolean;
  /** Starting it costs this machine something. */
  readonly isProgram?: boolean;
}

export interface McpClientManagerOptions {
  /** In the order of the settings, each name once; those that may not start stand there with their state. */
  readonly servers: readonly ManagedServer[];
  readonly emit?: (event: HostEvent) => void;
  /** How many programs may be starting at once. */
  readonly startLimit?: number;
  readonly clock?: Clock;
}

interface Attempt {
  readonly stop: AbortController;
  readonly done: Promise<McpClient>;
}

/** Milliseconds after which a program that is still starting keeps nobody else from it. */
const startPatience = 2000;

export class McpClientManager {
  readonly #servers: ReadonlyMap<string, ManagedServer>;
  readonly #emit: (event: HostEvent) => void;
  readonly #places: StartPlaces;
  readonly #attempts = new Map<string, Attempt>();
  readonly #endings = new Map<string, Promise<void>>();
  #discovery: MCPDiscoveryState = MCPDiscoveryState.NOT_STARTED;
  #discoveriesUnderWay = 0;

  constructor({ servers, emit = () => {}, startLimit = 4, clock = systemClock }: McpClientManagerOptions) {
    this.#servers = new Map(servers.map((server) => [stateOf(server).name, server]));
    this.#emit = emit;
    this.#places = createStartPlaces({ limit: startLimit, patience: startPatience, clock });
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

  /** Ends them first, whatever they are in the middle of. */
  async restart(names?: string | readonly string[]): Promise<void> {
    const servers = this.#startable(names);
    await Promise.all(servers.map((server) => this.#end(server)));
    await this.#discover(servers);
  }

  /** Resolves when nothing of any server is left. */
  async stop(): Promise<void> {
    await Promise.all(this.#startable().map((server) => this.#end(server)));
  }

  /** The server's client, connected and discovered; rejects with the reason why that cannot be. Callers share one attempt. */
  async ready(name: string, signal?: AbortSignal): Promise<McpClient> {
    const server = this.#find(name);
    if (!("client" in server)) throw refusal(server.state);
    return unlessAborted(this.#attempt(server), signal, () => cancelled(name));
  }

  async #discover(servers: readonly StartableServer[]): Promise<void> {
    this.#discoveriesUnderWay += 1;
    this.#tell(MCPDiscoveryState.IN_PROGRESS);
    await Promise.allSettled(servers.map((server) => this.#attempt(server)));
    this.#discoveriesUnderWay -= 1;
    if (this.#discoveriesUnderWay === 0) this.#tell(MCPDiscoveryState.COMPLETED);
  }

  #attempt(server: StartableServer): Promise<McpClient> {
    const { client } = server;
    if (client.offering && !this.#endings.has(client.name)) return Promise.resolve(client);
    const running = this.#attempts.get(client.name);
    if (running) return running.done;
    const stop = new AbortController();
    const done = this.#connect(server, stop.signal).finally(() => {
      if (this.#attempts.get(client.name)?.stop === stop) this.#attempts.delete(client.name);
    });
    this.#attempts.set(client.name, { stop, done });
    return done;
  }

  async #connect({ client, isProgram = false }: StartableServer, signal: AbortSignal): Promise<McpClient> {
    await this.#endings.get(client.name);
    signal.throwIfAborted();
    const leave = isProgram ? await this.#places.enter(signal) : undefined;
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
    const attempt = this.#attempts.get(name);
    this.#attempts.delete(name);
    attempt?.stop.abort(cancelled(name));
    const ending = Promise.allSettled([attempt?.done, this.#endings.get(name)])
      .then(() => client.disconnect())
      .finally(() => {
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

function stateOf(server: ManagedServer): ServerState {
  return "client" in server ? server.client.state : server.state;
}
