/** Keeps catalogs up to date: from what servers list, from the cache of earlier runs, and into the cache for the next run. */

import type { Verdict } from "@fairlead/wire";
import type { Remembered } from "../../discover/cached-catalog.ts";
import type { HostEvent, ServerNews, ServerState } from "../../events.ts";
import type { McpClient } from "../../mcp/client.ts";
import type { Offering } from "../../mcp/offering.ts";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import type { Knowledge } from "../types.ts";
import type { CatalogCache } from "./catalog-cache.ts";
import type { CatalogRegistries, RegisteredServer } from "./catalog-registries.ts";
import type { ChangedDefinitions } from "./changed-definitions.ts";

export interface CatalogSyncOptions {
  readonly cache: CatalogCache;
  readonly changed: ChangedDefinitions;
  readonly registries: CatalogRegistries;
  readonly client: (server: string) => McpClient | undefined;
  readonly definition: (server: string) => ServerDefinition | undefined;
  readonly registered: (server: string) => RegisteredServer;
  readonly emit: (event: HostEvent) => void;
  /** Milliseconds since 1970. */
  readonly today: () => number;
}

export interface CatalogSync {
  /** The registries are up to date before anyone hears of the news. */
  readonly onNews: (news: ServerNews) => void;
  readonly onState: (state: ServerState) => void;
  /** Reads the cached catalog and the accepted definitions of a server that is about to be connected. */
  readonly beforeOpen: (definition: ServerDefinition) => Promise<{
    readonly isFirstRun: boolean;
    /** The protocol that the server was reached by the last time. */
    readonly era: Verdict | undefined;
  }>;
  /** Fills the registries from the cache; connects to nothing. Gives the servers that have a catalog. */
  readonly recall: (servers: readonly string[]) => Promise<readonly Knowledge[]>;
  /** Saves the catalog and the accepted definitions of a connected server; resolves when they are on the disk. */
  readonly save: (server: string) => Promise<void>;
  /** Resolves when everything that was to be saved is on the disk. */
  readonly saved: () => Promise<unknown>;
}

export function createCatalogSync(options: CatalogSyncOptions): CatalogSync {
  const { cache, changed, registries, client, definition, registered, emit, today } = options;
  const saving = new Map<string, Promise<void>>();

  /** Registers the catalog that the server lists now; one that equals the cached catalog brings no news. */
  function update(server: string): void {
    const offering = client(server)?.offering;
    if (offering === undefined) return;
    if (registries.offering(server) !== offering) {
      changed.see(server, offering.catalog.tools);
      registries.put(registered(server), offering);
    }
    void save(server);
  }

  /** Saves one after another, so that the newest is written last. A catalog that cannot be written only costs the next start some time. */
  function save(server: string): Promise<void> {
    const entry = definition(server);
    const { offering, state } = client(server) ?? {};
    if (entry === undefined || offering === undefined || state?.status !== "connected") return Promise.resolve();
    const { catalog, hidden, offer } = offering;
    const snapshot = { peer: state.peer, offer, catalog, hidden: [...hidden], accepted: changed.unaccepted(server) };
    const before = saving.get(server) ?? Promise.resolve();
    const saved = before.then(async () => {
      await Promise.allSettled([cache.keep(entry, snapshot), saveAccepted(server, entry)]);
    });
    saving.set(server, saved);
    return saved;
  }

  async function saveAccepted(server: string, entry: ServerDefinition): Promise<void> {
    const news = changed.news(server);
    if (news.size > 0) changed.know(server, await cache.addKnown(entry, news));
  }

  async function readAccepted(entry: ServerDefinition): Promise<void> {
    const accepted = await cache.known(entry);
    if (accepted) changed.know(entry.name, accepted);
  }

  function onRemembered(server: string, { catalog, hidden, offer, accepted = [] }: Remembered): Offering {
    const offering = { catalog, hidden: new Map(hidden), offer };
    client(server)?.remember(offering);
    changed.recall(server, catalog.tools, accepted);
    return offering;
  }

  async function recallOne(server: string): Promise<Knowledge | undefined> {
    const connected = client(server)?.offering;
    if (connected) return { server, offer: connected.offer };
    const entry = definition(server);
    const [remembered] = entry ? await Promise.all([cache.recall(entry), readAccepted(entry)]) : [];
    if (remembered === undefined) return undefined;
    const offering = onRemembered(server, remembered);
    const { offer, peer, savedAt, freshUntil = Number.POSITIVE_INFINITY } = remembered;
    // Too old to be shown, but never too old to be compared with.
    if (freshUntil < today()) return undefined;
    if (registries.offering(server) === undefined) registries.put(registered(server), offering);
    return { server, offer, peer, savedAt };
  }

  return {
    onNews(news) {
      if (news.type === "catalog") update(news.server);
      emit(news);
    },
    onState(state) {
      if (state.status === "connected" && state.offer) update(state.name);
      emit({ type: "state", state });
    },
    async beforeOpen(entry) {
      const [era, remembered] = await Promise.all([cache.verdict(entry), cache.recall(entry), readAccepted(entry)]);
      if (remembered) onRemembered(entry.name, remembered);
      return { isFirstRun: remembered === undefined, era };
    },
    async recall(servers) {
      const known = await Promise.all(servers.map(recallOne));
      return known.flatMap((one) => one ?? []);
    },
    save,
    saved: () => Promise.all(saving.values()),
  };
}
