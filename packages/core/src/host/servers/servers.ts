/** The servers of a host: one live configuration, a client for each server that may start, and when they are stopped again. */

import type { Clock } from "../../clock.ts";
import type { Emitter, ServerChanges } from "../../events.ts";
import type { McpClient } from "../../mcp/client.ts";
import { McpClientManager } from "../../mcp/client-manager.ts";
import { optionOrigin } from "../../settings/define/definition.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import type { OpenHostOptions } from "../types.ts";
import type { HostConnectContext } from "./connect-context.ts";
import { createIdleStop } from "./idle-stop.ts";
import type { LiveConfiguration } from "./live-configuration.ts";
import { toManagedServers } from "./managed-servers.ts";
import { type FileWatch, watchFiles } from "./watch-files.ts";

export interface HostServersOptions extends Omit<OpenHostOptions, "clock" | "today"> {
  readonly configuration: LiveConfiguration;
  readonly context: HostConnectContext;
  readonly catalogs: Catalogs;
  readonly emit: Emitter["emit"];
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly today: () => number;
  /** Aborted when the host is closed. */
  readonly closing: AbortSignal;
}

export interface HostServers {
  readonly manager: McpClientManager;
  /** Undefined for a server that may not start. @throws HostError `server_unknown` */
  readonly client: (server: string) => McpClient | undefined;
  /** The server's client, connected and discovered. */
  readonly ready: (server: string, signal?: AbortSignal) => Promise<McpClient>;
  /** Keeps the server from being stopped as idle until the returned function is called. */
  readonly use: (server: string) => () => void;
  /** Brings the clients in line with the current configuration; nothing is started. */
  readonly update: () => Promise<ServerChanges>;
  readonly close: () => Promise<void>;
}

export function createHostServers(options: HostServersOptions): HostServers {
  const { configuration, context, catalogs, emit, clock, today, closing } = options;
  const { recover = false, idleStop, startLimit, watch = false } = options;
  const managed = () => toManagedServers({ ...options, context: () => context.get() });
  const manager = new McpClientManager({
    servers: managed(),
    emit,
    clock,
    recover,
    today,
    ...(startLimit !== undefined && { startLimit }),
  });
  const idle = createIdleStop({
    ...(idleStop !== undefined && { milliseconds: idleStop }),
    isLazy: (server) => recover && configuration.definition(server)?.extras.start === "lazy",
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

  return {
    manager,
    client: (server) => manager.getClient(server),
    use: (server) => idle.use(server),
    async ready(server, signal) {
      closing.throwIfAborted();
      return manager.ready(server, signal);
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

/** Settings files, and the file that says which folders are trusted. */
function watchedFiles(configuration: LiveConfiguration): readonly string[] {
  const { settings, locations } = configuration.current();
  const files = settings.files.flatMap(({ file }) => (file === optionOrigin ? [] : [file]));
  return [...files, locations.trustedFolders];
}
