/** All servers of a host, in the order of the settings. The only place that finds a server by its name. */

import { type Clock, systemClock } from "../clock.ts";
import type { ConnectContext } from "../connect/prepare-connection.ts";
import type { Redact } from "../connect/redact.ts";
import { demoName } from "../demo/name.ts";
import { HostError } from "../errors.ts";
import { type HostEvent, MCPDiscoveryState, type ServerChanges, type ServerState } from "../events.ts";
import type { CachedCatalogInfo, OpenHostOptions } from "../host/types.ts";
import type { HostTelemetry } from "../telemetry/telemetry.ts";
import { closest } from "../text/closest.ts";
import { admitBuiltIn } from "../trust/admit.ts";
import { type Configuration, isPlantedDemo } from "../trust/configuration.ts";
import { noLock, type ServerLock } from "./accepted-tools.ts";
import { CatalogCache, type CatalogCacheOptions } from "./catalog-cache.ts";
import type { Connection } from "./connection.ts";
import { ConnectionGroup } from "./connection-group.ts";
import { type FailedStart, FailedStarts } from "./failed-starts.ts";
import type { FilteredCatalog } from "./filtered-catalog.ts";
import type { AskForServersHost, OpenInBackground, RelaysHostQuestion } from "./opener.ts";
import { Server, type ServerEntry } from "./server.ts";

type TakenOption =
  | "observe"
  | "elicit"
  | "sample"
  | "onUnaskable"
  | "views"
  | "declare"
  | "onQuestion"
  | "greeting"
  | "era"
  | "lazy"
  | "recover"
  | "idleStop";

/** What all servers of a host share. */
export interface ServerContext {
  readonly options: Pick<OpenHostOptions, TakenOption> & { readonly background?: OpenInBackground };
  readonly configuration: () => Configuration;
  readonly connecting: () => Promise<ConnectContext>;
  readonly cache: CatalogCache;
  readonly failedStarts: FailedStarts;
  readonly group: ConnectionGroup;
  readonly telemetry: HostTelemetry;
  readonly clock: Clock;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** A signal that is aborted when the host is closed. */
  readonly closing: AbortSignal;
  readonly emit: (event: HostEvent) => void;
  readonly askForHost: AskForServersHost;
  readonly relayHostQuestion: RelaysHostQuestion;
  /** Called when the registries should show another catalog of the server. */
  readonly onCatalog: (server: Server, catalog: FilteredCatalog) => void;
  readonly lockOf: (server: Server) => ServerLock;
  /** Saves the noted catalogs when no new one arrives for a while. */
  readonly saveSoon: () => void;
}

/** The parts of the host that its servers use. */
export interface ServersOptions
  extends Pick<
      ServerContext,
      "options" | "connecting" | "askForHost" | "relayHostQuestion" | "telemetry" | "clock" | "now" | "closing" | "emit"
    >,
    Pick<CatalogCacheOptions, "secret" | "accountAt" | "acceptedDefinitions"> {
  /** How many programs may start at the same time. */
  readonly startLimit?: number | undefined;
  readonly onCatalog: ServerContext["onCatalog"];
}

/**
 * Catalogs are saved when no new one arrives for this many milliseconds. Servers that are starting then need not wait
 * for the disk.
 */
const saveDelay = 500;
/** Milliseconds after which catalogs are saved even if servers are still starting. */
const longestDelay = 10_000;
/** Maximum number of catalogs that are written at the same time. */
const mostSaves = 4;

/** The servers of one host. */
export class Servers {
  #servers: ReadonlyMap<string, Server>;
  readonly #context: ServerContext;
  #configuration: Configuration;
  /** Hides the secrets of replaced and removed servers, which may still stand in a conversation. */
  readonly #formerRedacts = new Map<string, Redact>();
  #version = 0;
  #lockOf: (server: Server) => ServerLock = () => noLock;
  #saveTimer: NodeJS.Timeout | undefined;
  #unsavedSince: number | undefined;

  constructor(configuration: Configuration, options: ServersOptions) {
    const { startLimit, clock, now, secret, accountAt, acceptedDefinitions } = options;
    const cache = new CatalogCache({ state: configuration.locations.state, secret, accountAt, acceptedDefinitions });
    this.#configuration = configuration;
    this.#context = {
      ...options,
      configuration: () => this.#configuration,
      cache,
      failedStarts: new FailedStarts(configuration.locations.state, (definition) => cache.keyOf(definition), now),
      group: new ConnectionGroup({
        startLimit,
        clock,
        now,
        onDiscovery: (state) => options.emit({ type: "discovery", state }),
      }),
      lockOf: (server) => this.#lockOf(server),
      saveSoon: () => this.#saveSoon(),
    };
    this.#servers = new Map(
      this.#entries().map((entry) => [entry.name, new Server(entry, this.#identityOf(entry), this.#context)]),
    );
  }

  /** The current configuration. Do not keep a copy of it: `update` replaces it. */
  get configuration(): Configuration {
    return this.#configuration;
  }

  /** A number that changes with every `setConfiguration`. */
  get version(): number {
    return this.#version;
  }

  /** All servers. The demo server comes last. */
  all(): readonly Server[] {
    return [...this.#servers.values()];
  }

  names(): readonly string[] {
    return [...this.#servers.keys()];
  }

  /** @throws HostError `server_unknown` */
  get(name: string): Server {
    const server = this.#servers.get(name);
    if (server) return server;
    const near = closest(name, this.#servers.keys());
    const message = `there is no server "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`;
    throw new HostError("server_unknown", message, { next: "fairlead mcp list" });
  }

  find(name: string): Server | undefined {
    return this.#servers.get(name);
  }

  /** Functions that hide the secrets of connections, also of servers that were replaced or removed. */
  redacts(): readonly Redact[] {
    return [...this.#formerRedacts.values(), ...this.all().flatMap(({ redact }) => redact ?? [])];
  }

  states(): readonly ServerState[] {
    return this.all().map(({ state }) => state);
  }

  /** Whether "all servers" includes this one. The demo server is included only while no other server is configured. */
  isMeantByAll(name: string): boolean {
    return this.#servers.size === 1 || this.find(name)?.isDemo !== true;
  }

  get discoveryState(): MCPDiscoveryState {
    return this.#context.group.discoveryState;
  }

  /** Sets the lock file that applies from now on. */
  setLock(lockOf: (server: Server) => ServerLock): void {
    this.#lockOf = lockOf;
  }

  /**
   * Connects to the named servers, including lazy ones; without names, to all servers except lazy ones. Connected
   * servers keep their connection. Resolves when each server is connected or has failed; its state says which.
   */
  async start(names?: readonly string[]): Promise<void> {
    const servers = names?.map((name) => this.get(name)) ?? this.all().filter(({ isLazy }) => !isLazy);
    await this.#context.group.discover(sharedOf(servers).map((connection) => () => connection.startAnew()));
  }

  /**
   * Disconnects the servers and connects them again. Requests wait for the new connection. A server that is stopped
   * meanwhile stays stopped.
   */
  async restart(names: readonly string[]): Promise<void> {
    const connections = sharedOf(names.map((name) => this.get(name)));
    await this.#context.group.discover(await Promise.all(connections.map((connection) => connection.stopForRestart())));
  }

  /** Disconnects the named servers. Resolves when their connections are closed. */
  async stop(names: readonly string[]): Promise<void> {
    await Promise.all(sharedOf(names.map((name) => this.get(name))).map((connection) => connection.stop()));
  }

  /**
   * Applies a new configuration to what depends on it at once: trust, limits, order. `update` then replaces the servers.
   */
  setConfiguration(next: Configuration): void {
    this.#configuration = next;
    this.#version += 1;
  }

  /**
   * Replaces the servers by those of the current configuration. A server whose identity has not changed keeps its
   * connections; the others are closed. Starts no new server. Resolves when the old connections are closed.
   */
  async update(): Promise<ServerChanges> {
    const before = this.#servers;
    const servers = new Map<string, Server>();
    const changes = { kept: [] as string[], replaced: [] as string[], added: [] as string[] };
    for (const entry of this.#entries()) {
      const { name } = entry;
      const old = before.get(name);
      const identity = this.#identityOf(entry);
      const isKept = old?.identity === identity;
      if (isKept) old.keep(entry);
      servers.set(name, isKept ? old : new Server(entry, identity, this.#context));
      changes[isKept ? "kept" : old ? "replaced" : "added"].push(name);
    }
    const removed = [...before.keys()].filter((name) => !servers.has(name));
    const leaving = [...before.values()].filter((server) => servers.get(server.name) !== server);
    this.#servers = servers;
    const closed = leaving.map((server) => {
      if (server.redact) this.#formerRedacts.set(server.name, server.redact);
      return server.close(servers.get(server.name));
    });
    this.#context.emit({ type: "servers", ...changes, removed });
    await Promise.all(closed);
    return { ...changes, removed };
  }

  /** Shows the cached catalogs and returns the servers that have one. Connects to no server. */
  async recall(names: readonly string[] = this.names()): Promise<readonly CachedCatalogInfo[]> {
    const found = await Promise.all(names.map(async (name) => this.find(name)?.recall()));
    return found.flatMap((one) => one ?? []);
  }

  /** Servers that failed in this or an earlier run, and whose next attempt is in the future. */
  failedStarts(): Promise<readonly FailedStart[]> {
    return this.#context.failedStarts.waiting(this.all().flatMap(({ definition }) => definition ?? []));
  }

  /** Resolves when every catalog, accepted definition and failed start is on disk. */
  async flush(): Promise<void> {
    await this.#saveAll();
    await Promise.all(this.all().map((server) => server.saveNoted()));
  }

  /** Stops all servers. No server can be started afterwards. */
  async close(): Promise<void> {
    await this.#context.group.close();
  }

  get context(): ServerContext {
    return this.#context;
  }

  #saveSoon(): void {
    clearTimeout(this.#saveTimer);
    this.#unsavedSince ??= systemClock.now();
    const left = this.#unsavedSince + longestDelay - systemClock.now();
    const isStarting = (): boolean => this.discoveryState === MCPDiscoveryState.IN_PROGRESS;
    this.#saveTimer = setTimeout(
      () => (left > saveDelay && isStarting() ? this.#saveSoon() : void this.#saveAll()),
      saveDelay,
    ).unref();
  }

  async #saveAll(): Promise<void> {
    clearTimeout(this.#saveTimer);
    this.#unsavedSince = undefined;
    const servers = this.all().filter(({ isUnsaved }) => isUnsaved);
    const saveNext = async (): Promise<void> => {
      for (let server = servers.pop(); server !== undefined; server = servers.pop()) await server.saveNoted();
    };
    await Promise.all([...Array.from({ length: mostSaves }, saveNext), this.#context.failedStarts.flush()]);
  }

  #entries(): readonly ServerEntry[] {
    const { settings, servers } = this.#configuration;
    const isLazy = this.#context.options.lazy === true;
    const entries = servers
      .filter((entry) => !isPlantedDemo(entry))
      .map(
        ({ server: { name, definition, scope }, admission }): ServerEntry => ({
          name,
          admission,
          definition,
          scope,
          isLazy: isLazy || definition?.extras.start === "lazy",
        }),
      );
    if (entries.some(({ name }) => name === demoName)) return entries;
    const admission = admitBuiltIn(demoName, settings);
    return [...entries, { name: demoName, admission, isLazy: isLazy || entries.length > 0 }];
  }

  /** A server with the same identity keeps its connections. Kept in memory only, because it may contain secrets. */
  #identityOf({ admission, definition }: ServerEntry): string {
    if (admission.status !== "admitted") return JSON.stringify(admission);
    if (definition === undefined) return "admitted";
    const { fingerprint, programs, values, extras } = definition;
    const { trust, locations } = this.#configuration;
    return JSON.stringify([
      fingerprint,
      programs,
      [...values],
      extras.sampling,
      extras.roots,
      trust.trusted,
      locations.root,
    ]);
  }
}

function sharedOf(servers: readonly Server[]): readonly Connection[] {
  return servers.flatMap(({ shared }) => shared ?? []);
}
