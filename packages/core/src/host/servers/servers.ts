/** Manages the servers of a host: creates their clients, stops idle servers, and watches the settings files. */

import type { Clock } from "../../clock.ts";
import type { OpenedRelay, RelayOptions } from "../../connect/open-relay.ts";
import type { Emitter, ServerChanges } from "../../events.ts";
import type { Connection } from "../../server/connection.ts";
import { ServerManager } from "../../server/server-manager.ts";
import { optionOrigin, type SharedBy } from "../../settings/define/definition.ts";
import { approvalsPath } from "../../trust/approvals.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import type { OpenHostOptions } from "../types.ts";
import type { HostConnectContext } from "./connect-context.ts";
import type { LiveConfiguration } from "./live-configuration.ts";
import { toManagedServers } from "./managed-servers.ts";
import { mayHaveRoots } from "./roots.ts";
import { sharedBy } from "./sharing.ts";
import { type FileWatch, watchFiles } from "./watch-files.ts";

/** The parts and options of the host that its servers use. */
export interface HostServersOptions extends Omit<OpenHostOptions, "clock" | "now"> {
  readonly configuration: LiveConfiguration;
  readonly context: HostConnectContext;
  readonly catalogs: Catalogs;
  readonly emit: Emitter["emit"];
  readonly clock: Clock;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** A signal that is aborted when the host is closed. */
  readonly closing: AbortSignal;
}

/** The servers of a host and their clients. */
export interface HostServers {
  readonly manager: ServerManager;
  /**
   * The client of a server; undefined if the server is not allowed to start.
   *
   * @throws HostError `server_unknown`
   */
  readonly client: (server: string) => Connection | undefined;
  /** The client of a server whose catalog was read. If undefined, call `ready`. */
  readonly connected: (server: string) => Connection | undefined;
  /** Connects the server if needed, reads its catalog, and returns its client. */
  readonly ready: (server: string, signal?: AbortSignal) => Promise<Connection>;
  /** Keeps the server running. It may be stopped as idle after the returned function is called. */
  readonly use: (server: string) => () => void;
  /**
   * Opens a relay with its own connection to the server. Other connections are not affected.
   *
   * @throws HostError `server_unknown`, or the reason why the server is not allowed to start
   */
  readonly relay: (server: string, options: RelayOptions) => Promise<OpenedRelay>;
  /** Whether gateway clients share one connection to the server. See `GatewayHost.shareOf`. */
  readonly shareOf: (server: string, conversation?: string) => SharedBy;
  /** Identifies the running process of a stdio program. Undefined if it does not run; empty for other servers. */
  readonly processOf: (server: string) => string | undefined;
  /** Whether the settings let the server learn the user's folders. */
  readonly mayHaveRoots: (server: string) => boolean;
  /** Tells the connected servers with a legacy protocol version and roots that the roots have changed. */
  readonly rootsChanged: () => Promise<void>;
  /** Updates the clients to the current configuration. Starts no server. */
  readonly update: () => Promise<ServerChanges>;
  readonly close: () => Promise<void>;
}

/** Creates a client for each server that is allowed to start. Connects no server. */
export function createHostServers(options: HostServersOptions): HostServers {
  const { configuration, context, catalogs, emit, clock, now, closing } = options;
  const { recover = false, idleStop, startLimit, watch = false, lazy = false } = options;
  const managed = () => toManagedServers({ ...options, context: () => context.get() });
  const manager = new ServerManager({
    servers: managed(),
    emit,
    clock,
    recover,
    now,
    ...(startLimit !== undefined && { startLimit }),
  });
  const idle = createIdleStop({
    ...(idleStop !== undefined && { milliseconds: idleStop }),
    isLazy: (server) => recover && (lazy || configuration.definition(server)?.extras.start === "lazy"),
    stop: (server) => void manager.stop(server),
    clock,
  });
  const watching: FileWatch | undefined = watch
    ? watchFiles({
        files: watchedFiles(configuration),
        onChange: (file) => emit({ type: "settings_changed", file }),
        clock,
      })
    : undefined;

  function hasRoots(server: string): boolean {
    const definition = configuration.definition(server);
    return definition !== undefined && mayHaveRoots(definition, configuration.current());
  }

  return {
    manager,
    client: (server) => manager.getClient(server),
    connected: (server) => (closing.aborted ? undefined : manager.connected(server)),
    use: (server) => idle.use(server),
    async ready(server, signal) {
      closing.throwIfAborted();
      return manager.ready(server, signal);
    },
    async relay(server, given) {
      closing.throwIfAborted();
      const name = manager.getClient(server)?.name ?? server;
      const { openHostRelay } = await import("./open-host-relay.ts");
      return openHostRelay(name, { configuration, states: () => manager.states(), context }, given);
    },
    shareOf(server, conversation) {
      const definition = configuration.definition(server);
      if (definition === undefined) return "all";
      const { peerOf, isUnshared } = catalogs.facts;
      const asksForOthers = (): boolean =>
        conversation !== undefined && manager.connected(server)?.mayAskForOthers(conversation) === true;
      return sharedBy(definition, { peer: peerOf(server), asksBack: isUnshared(server) || asksForOthers() });
    },
    processOf(server) {
      const definition = configuration.definition(server);
      if (definition === undefined) return undefined;
      return definition.transport.kind === "stdio" ? manager.getClient(server)?.connectionId : "";
    },
    mayHaveRoots: hasRoots,
    async rootsChanged() {
      // Servers with a modern protocol version need no notification: they ask for the roots when they need them.
      const legacy = manager
        .clients()
        .filter(({ name, state }) => state.status === "connected" && state.peer.era === "legacy" && hasRoots(name));
      await Promise.allSettled(legacy.map((client) => client.notify("notifications/roots/list_changed")));
    },
    async update() {
      const changes = await manager.update(managed());
      for (const name of [...changes.replaced, ...changes.removed]) catalogs.forget(name);
      return changes;
    },
    async close() {
      idle.close();
      watching?.close();
      await manager.close();
    },
  };
}

/** The settings files, the trusted-folders file and the approvals file. */
function watchedFiles(configuration: LiveConfiguration): readonly string[] {
  const { settings, locations } = configuration.current();
  const files = settings.files.flatMap(({ file }) => (file === optionOrigin ? [] : [file]));
  return [...files, locations.trustedFolders, approvalsPath(locations.state)];
}

/** Tracks which servers are in use. */
interface IdleStop {
  use(server: string): () => void;
  close(): void;
}

interface IdleOptions {
  /** Milliseconds without a request after which a server is stopped. Default: 300 000. */
  readonly milliseconds?: number;
  /** Whether the server may be stopped. Only lazy servers may. */
  readonly isLazy: (server: string) => boolean;
  readonly stop: (server: string) => void;
  readonly clock: Clock;
}

/** How many requests use one server, and since when none does. */
interface ServerUse {
  open: number;
  /** When the last request ended. */
  idleSince: number;
  cancelTimer: (() => void) | undefined;
}

/** Stops a server that a request started, after `milliseconds` without requests. */
function createIdleStop({ milliseconds = 300_000, isLazy, stop, clock }: IdleOptions): IdleStop {
  const uses = new Map<string, ServerUse>();
  let isClosed = false;

  function wait(server: string, use: ServerUse, delay: number): void {
    use.cancelTimer = clock.after(delay, () => ring(server, use), { background: true });
  }

  function ring(server: string, use: ServerUse): void {
    use.cancelTimer = undefined;
    // The server is in use. When its last request ends, a new timer starts.
    if (use.open > 0) return;
    const left = use.idleSince + milliseconds - clock.now();
    if (left > 0) wait(server, use, left);
    else stop(server);
  }

  function release(server: string, use: ServerUse): void {
    use.open -= 1;
    // A request may end while the host is being closed. It must not start a timer.
    if (use.open > 0 || isClosed || !isLazy(server)) return;
    use.idleSince = clock.now();
    if (use.cancelTimer === undefined) wait(server, use, milliseconds);
  }

  return {
    use(server) {
      const use = uses.get(server) ?? { open: 0, idleSince: 0, cancelTimer: undefined };
      uses.set(server, use);
      use.open += 1;
      return () => release(server, use);
    },
    close() {
      isClosed = true;
      for (const { cancelTimer } of uses.values()) cancelTimer?.();
      uses.clear();
    },
  };
}
