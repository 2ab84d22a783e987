/** Manages the catalogs of a host: the registries, the catalog cache and the accepted definitions. */

import { demoName } from "../../demo/name.ts";
import type { Emitter } from "../../events.ts";
import type { Catalog } from "../../server/catalog.ts";
import type { Connection } from "../../server/connection.ts";
import { filterCatalog } from "../../server/filtered-catalog.ts";
import type { LiveConfiguration } from "../servers/live-configuration.ts";
import type { OpenHostOptions } from "../types.ts";
import { type CatalogCacheOptions, createCatalogCache } from "./catalog-cache.ts";
import {
  type CatalogRegistries,
  createCatalogRegistries,
  type RegisteredServer,
  type RequestBinding,
} from "./catalog-registries.ts";
import { type CatalogSync, createCatalogSync } from "./catalog-sync.ts";
import { type ChangedDefinitions, createChangedDefinitions } from "./changed-definitions.ts";
import { demoCatalog } from "./demo-catalog.ts";
import { createFailedStarts, type FailedStart } from "./failed-starts.ts";
import { createServerFacts, type ServerFactStore } from "./server-facts.ts";

/** Configuration, secrets and events that the catalogs need. */
export interface CatalogsOptions
  extends Pick<CatalogCacheOptions, "secret" | "accountAt">,
    Pick<OpenHostOptions, "era"> {
  readonly configuration: LiveConfiguration;
  readonly emit: Emitter["emit"];
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
}

/** What the catalogs need from parts of the host that are created later. `join` sets it. */
export interface CatalogsJoin extends RequestBinding {
  readonly client: (server: string) => Connection | undefined;
  readonly isStarting: () => boolean;
}

/** The catalogs of all servers, with their cache and their changed definitions. */
export interface Catalogs extends CatalogSync, Omit<CatalogRegistries, "put" | "bind" | "setServerOrder" | "remove"> {
  readonly changed: ChangedDefinitions;
  readonly facts: Pick<ServerFactStore, "serverFacts" | "peerOf" | "isUnshared">;
  /** Servers that failed in this or an earlier run, and whose next attempt is in the future. */
  readonly failedStarts: () => Promise<readonly FailedStart[]>;
  readonly join: (others: CatalogsJoin) => void;
  readonly catalog: (server: string) => Catalog | undefined;
  /** Puts the servers into the order of the configuration. */
  readonly reorder: () => void;
  /** Whether the names of this server's tools and prompts always contain the server's name. */
  readonly isAlwaysQualified: (server: string) => boolean;
  /** Registers the demo server's catalog, which is built in, if neither a connection nor the cache has. */
  readonly registerDemo: (server: string) => void;
  /** Forgets a server that was removed, or whose definition was replaced. */
  readonly forget: (server: string) => void;
}

/** Creates the catalogs of a host. Call `join` before a server connects. */
export function createCatalogs(options: CatalogsOptions): Catalogs {
  const { configuration, emit, now, secret, accountAt } = options;
  const { state } = configuration.current().locations;
  const changed = createChangedDefinitions();
  const registries = createCatalogRegistries();
  let others: Pick<CatalogsJoin, "client" | "isStarting"> = { client: () => undefined, isStarting: () => false };

  const isDemo = (server: string): boolean => server === demoName && configuration.hasDemo();

  function reorder(): void {
    const order = configuration.order();
    registries.setServerOrder(order, order.filter(isDemo));
  }

  function registered(name: string): RegisteredServer {
    const { includeTools, excludeTools = [] } = configuration.definition(name) ?? {};
    const filter = { excludeTools, ...(includeTools && { includeTools }) };
    return {
      name,
      filter,
      trust: configuration.entryTrust(name)?.counts === true,
      timeout: configuration.timeoutOf(name),
    };
  }

  const choosesEra = options.era !== undefined;
  const mayStart = (server: string): boolean => configuration.definition(server) !== undefined || isDemo(server);
  const facts = createServerFacts((server) => (mayStart(server) ? others.client(server) : undefined));
  const cache = createCatalogCache({ state, secret, ...(accountAt && { accountAt }), choosesEra, now });
  const failedStarts = createFailedStarts({ state, keyOf: (entry) => cache.keyOf(entry), now });
  const sync = createCatalogSync({
    cache,
    failedStarts,
    changed,
    facts,
    registries,
    client: (server) => others.client(server),
    isStarting: () => others.isStarting(),
    definition: configuration.definition,
    registered,
    emit,
    now,
  });
  reorder();

  return {
    ...registries,
    ...sync,
    changed,
    facts,
    failedStarts: () =>
      failedStarts.waiting(configuration.order().flatMap((name) => configuration.definition(name) ?? [])),
    join({ client, isStarting, ...binding }) {
      others = { client, isStarting };
      registries.bind(binding);
    },
    catalog: (server) => registries.catalogOf(server)?.catalog,
    reorder,
    isAlwaysQualified: isDemo,
    registerDemo(server) {
      if (!isDemo(server) || registries.catalogOf(server) !== undefined) return;
      const demo = registered(server);
      registries.put(demo, filterCatalog(demoCatalog, { serverName: server, filter: demo.filter, mayGrow: true }));
    },
    forget(server) {
      registries.remove(server);
      changed.forget(server);
      facts.forget(server);
    },
  };
}
