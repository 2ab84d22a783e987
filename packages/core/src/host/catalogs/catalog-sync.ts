/** Copies the servers' current lists into the registries and the catalog cache. */

import type { NegotiatedProtocol } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import { systemClock } from "../../clock.ts";
import type { HostEvent, ServerNews, ServerState } from "../../events.ts";
import type { ToolIdentity } from "../../policy/decide.ts";
import type { CachedCatalog } from "../../server/catalog-store.ts";
import type { Connection } from "../../server/connection.ts";
import type { FilteredCatalog } from "../../server/filtered-catalog.ts";
import { prepareDigests } from "../../server/tool-changes.ts";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import { createTurns } from "../../text/turns.ts";
import type { CachedCatalogInfo } from "../types.ts";
import type { CatalogCache, ServerListing } from "./catalog-cache.ts";
import type { CatalogRegistries, RegisteredServer } from "./catalog-registries.ts";
import type { ChangedDefinitions } from "./changed-definitions.ts";
import type { FailedStarts } from "./failed-starts.ts";
import type { ServerFactStore } from "./server-facts.ts";

/** The parts of the host that `createCatalogSync` connects. */
export interface CatalogSyncOptions {
  readonly cache: CatalogCache;
  readonly failedStarts: FailedStarts;
  readonly changed: ChangedDefinitions;
  readonly facts: ServerFactStore;
  readonly registries: CatalogRegistries;
  readonly client: (server: string) => Connection | undefined;
  readonly isStarting: () => boolean;
  readonly definition: (server: string) => ServerDefinition | undefined;
  readonly registered: (server: string) => RegisteredServer;
  readonly emit: (event: HostEvent) => void;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
}

/** Copies catalogs from servers to the registries and the cache, and from the cache to the registries. */
export interface CatalogSync {
  /** Puts a server's changed lists into the registries, then emits the event to the host's listeners. */
  readonly onNews: (news: ServerNews) => void;
  readonly onState: (state: ServerState) => void;
  /** Reads the cached catalog and the accepted definitions of a server that is about to be connected. */
  readonly beforeOpen: (definition: ServerDefinition) => Promise<{
    readonly isFirstRun: boolean;
    /** The protocol of the last connection, from the cache. */
    readonly era: NegotiatedProtocol | undefined;
  }>;
  /** Fills the registries from the cache and returns the servers that have a cached catalog. Connects to no server. */
  readonly recall: (servers: readonly string[]) => Promise<readonly CachedCatalogInfo[]>;
  /** Saves the catalog and the accepted definitions of a connected server. Resolves when they are on disk. */
  readonly save: (server: string) => Promise<void>;
  /**
   * Saves the server's new accepted definitions at once. Resolves also if saving fails. Undefined if there is nothing
   * to save.
   */
  readonly acceptedSaved: (server: string) => Promise<void> | undefined;
  /**
   * Returns why Fairlead, once connected, could not tell whether the tool's definition has changed. Undefined if it
   * could tell, or if the tool is already listed. Connects to no server.
   */
  readonly expectedDoubt: (tool: ToolIdentity) => Promise<string | undefined>;
  /**
   * Returns why the cache has kept an earlier definition of a listed tool, if its server has changed it since.
   * Undefined if the cache follows the server, or if the server is connected. Connects to no server.
   */
  readonly cacheDoubt: (tool: ToolIdentity) => Promise<string | undefined>;
  /** Why the catalog cache cannot be written; undefined if nothing is known against it. */
  readonly whyNotKept: () => Promise<string | undefined>;
  /** Records that the server sends requests without saying for which gateway client. */
  readonly noteAsksBack: (server: string) => void;
  /** Gives each gateway client its own connection to a legacy server. Not stored on disk. */
  readonly unshare: (server: string) => void;
  /**
   * The catalog of a connected server. Another host with the same servers can `adopt` it. Undefined if not connected.
   */
  readonly listing: (server: string) => ServerListing | undefined;
  /** Registers a catalog from another host's `listing`. No effect if this host is connected to the server itself. */
  readonly adopt: (server: string, listing: ServerListing) => void;
  /** Resolves when every pending save is on disk. */
  readonly flush: () => Promise<unknown>;
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

/** Creates the synchronisation. It does nothing until one of its functions is called. */
export function createCatalogSync(options: CatalogSyncOptions): CatalogSync {
  const { cache, failedStarts, changed, facts, registries, client, definition, registered, emit, now } = options;
  const unsaved = new Map<string, Unsaved>();
  const saving = new Map<string, Promise<void>>();
  const accepting = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let waitingSince = 0;

  /** Registers the catalog that the server lists now, and plans to save it. */
  function update(server: string): void {
    const filteredCatalog = client(server)?.filteredCatalog;
    if (filteredCatalog === undefined) return;
    if (registries.catalogOf(server) !== filteredCatalog) {
      changed.see(server, filteredCatalog.catalog.tools);
      registries.put(registered(server), filteredCatalog);
    }
    if (unsaved.size === 0) waitingSince = systemClock.now();
    note(server);
    saveLater();
  }

  function saveLater(): void {
    clearTimeout(timer);
    const left = waitingSince + longestDelay - systemClock.now();
    timer = setTimeout(
      () => (left > saveDelay && options.isStarting() ? saveLater() : void saveAll()),
      saveDelay,
    ).unref();
  }

  /** Copies the server's catalog now. The server may be disconnected before it is saved. */
  function note(server: string): void {
    const entry = definition(server);
    const snapshot = listing(server);
    if (entry === undefined || snapshot === undefined) return;
    facts.remember(server, snapshot);
    unsaved.set(server, { entry, snapshot });
  }

  function listing(server: string): ServerListing | undefined {
    const { filteredCatalog, state, capabilities } = client(server) ?? {};
    if (filteredCatalog === undefined || state?.status !== "connected") return undefined;
    const { catalog, hidden, offer: counts } = filteredCatalog;
    return { peer: state.peer, capabilities, offer: counts, catalog, hidden: [...hidden] };
  }

  async function saveAll(): Promise<void> {
    clearTimeout(timer);
    const servers = [...unsaved.keys()];
    const saveNext = async (): Promise<void> => {
      for (let server = servers.pop(); server !== undefined; server = servers.pop()) await saveNoted(server);
    };
    await Promise.all([...Array.from({ length: mostSaves }, saveNext), failedStarts.flush()]);
  }

  /**
   * Saves the server's catalog after its earlier saves. An error is ignored: the next run reads the catalog from the
   * server.
   */
  function saveNoted(server: string): Promise<void> {
    const found = unsaved.get(server);
    const before = saving.get(server) ?? Promise.resolve();
    if (found === undefined) return before;
    unsaved.delete(server);
    const { entry, snapshot } = found;
    const isCurrent = (): boolean => definition(server)?.fingerprint === entry.fingerprint;
    const compared = before
      .then(() => prepareDigests(snapshot.catalog.tools))
      .then(() => (isCurrent() ? changed.compareListed(server) : undefined));
    const accepted = compared.then(() => (isCurrent() ? saveAccepted(server, entry) : undefined));
    const catalogSaved = compared.then(async () => {
      await createTurns(0).done(1);
      const unaccepted = isCurrent() ? changed.unaccepted(server) : [];
      await Promise.allSettled([cache.keep(entry, { ...snapshot, accepted: unaccepted }), accepted]);
    });
    accepting.set(server, accepted);
    saving.set(server, catalogSaved);
    void accepted.then(() => accepting.get(server) === accepted && accepting.delete(server));
    return catalogSaved;
  }

  async function saveAccepted(server: string, entry: ServerDefinition): Promise<void> {
    const news = changed.news(server);
    if (news.size === 0) return;
    try {
      changed.setAccepted(server, await cache.addAccepted(entry, news));
      changed.setUnsaved(server, undefined);
    } catch (error) {
      changed.setUnsaved(server, errorMessage(error));
    }
  }

  async function readAccepted(entry: ServerDefinition): Promise<void> {
    const accepted = await cache.acceptedDefinitions(entry);
    if (accepted) changed.setAccepted(entry.name, accepted);
  }

  function onRemembered(server: string, cached: CachedCatalog): FilteredCatalog {
    const { catalog, hidden, offer: counts, accepted = [] } = cached;
    facts.remember(server, cached);
    const filteredCatalog = { catalog, hidden: new Map(hidden), offer: counts };
    client(server)?.setPreviousCatalog(filteredCatalog);
    changed.recall(server, catalog.tools, accepted);
    return filteredCatalog;
  }

  async function recallOne(server: string): Promise<CachedCatalogInfo | undefined> {
    const connected = client(server)?.filteredCatalog;
    if (connected) return { server, offer: connected.offer };
    const entry = definition(server);
    const [remembered] = entry
      ? await Promise.all([cache.recall(entry), readAccepted(entry), recallAsksBack(entry)])
      : [];
    if (remembered === undefined) return undefined;
    const filteredCatalog = onRemembered(server, remembered);
    const { offer: counts, peer, savedAt, freshUntil = Number.POSITIVE_INFINITY } = remembered;
    // The tools of an expired catalog are not listed.
    if (freshUntil < now()) return undefined;
    if (registries.catalogOf(server) === undefined) registries.put(registered(server), filteredCatalog);
    return { server, offer: counts, peer, savedAt };
  }

  async function recallAsksBack(entry: ServerDefinition): Promise<void> {
    if (await cache.asksBack(entry)) facts.setAsksBack(entry.name);
  }

  return {
    unshare: facts.setUnshared,
    noteAsksBack(server) {
      const entry = definition(server);
      if (entry === undefined || facts.asksBack(server)) return;
      facts.setAsksBack(server);
      // A failed write is ignored. The next run records the server's next request again.
      const before = saving.get(server);
      saving.set(
        server,
        Promise.allSettled([before, cache.noteAsksBack(entry)]).then(() => undefined),
      );
    },
    onNews(news) {
      if (news.type === "catalog") update(news.server);
      emit(news);
    },
    onState(state) {
      if (state.status === "connected" && state.offer) update(state.name);
      failedStarts.onState(definition(state.name), state);
      emit({ type: "state", state });
    },
    async beforeOpen(entry) {
      const [era, remembered] = await Promise.all([cache.protocol(entry), cache.recall(entry), readAccepted(entry)]);
      if (remembered) onRemembered(entry.name, remembered);
      return { isFirstRun: remembered === undefined, era };
    },
    listing,
    adopt(server, { catalog, hidden, offer: counts, ...rest }) {
      // Clients that no longer share this host's connection see the lists of their own ones.
      const isLeft = facts.isUnshared(server) && facts.peerOf(server)?.era === "legacy";
      const isConnected = client(server)?.filteredCatalog !== undefined;
      if (definition(server) === undefined || (isConnected && !isLeft)) return;
      const filteredCatalog = { catalog, hidden: new Map(hidden), offer: counts };
      facts.remember(server, { catalog, ...rest });
      client(server)?.setPreviousCatalog(filteredCatalog);
      changed.see(server, catalog.tools);
      registries.put(registered(server), filteredCatalog);
    },
    async recall(servers) {
      const catalogInfos = await Promise.all(servers.map(recallOne));
      return catalogInfos.flatMap((one) => one ?? []);
    },
    save(server) {
      note(server);
      return saveNoted(server);
    },
    acceptedSaved(server) {
      if (unsaved.has(server)) void saveNoted(server);
      return accepting.get(server);
    },
    async expectedDoubt(tool) {
      const entry = definition(tool.serverName);
      if (entry === undefined || changed.toolOf(tool) !== undefined) return undefined;
      await readAccepted(entry);
      return changed.isComparable(tool) ? undefined : cache.whyUnsaved();
    },
    async cacheDoubt(tool) {
      const { serverName } = tool;
      const isCached = definition(serverName) !== undefined && client(serverName)?.filteredCatalog === undefined;
      return isCached && changed.toolOf(tool) !== undefined ? cache.whyNotKept() : undefined;
    },
    whyNotKept: () => cache.whyNotKept(),
    async flush() {
      await saveAll();
      await Promise.all(saving.values());
    },
  };
}

interface Unsaved {
  readonly entry: ServerDefinition;
  readonly snapshot: ServerListing;
}
