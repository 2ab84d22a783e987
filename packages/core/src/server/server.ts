/**
 * One server of a host: its definition, whether it may start, its connections, its catalog (listed or cached), and the
 * tool definitions that the user has accepted.
 */

import type { Era, JsonObject, NegotiatedProtocol } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import type { ConnectStep } from "../connect/connect-step.ts";
import type { Redact } from "../connect/redact.ts";
import { demoName } from "../demo/name.ts";
import { promptDefinitions, resourceDefinitions, templateDefinitions } from "../demo/resources.ts";
import { toolDefinitions } from "../demo/tools.ts";
import type { ListName, Peer, ServerNews, ServerState } from "../events.ts";
import type {
  DeclaredCapabilities,
  QuestionHandler,
  ServerDescription,
  SharedCapabilities,
} from "../host/gateway-types.ts";
import type { CachedCatalogInfo } from "../host/types.ts";
import type { ChangedDefinition } from "../policy/decide.ts";
import { WantedHosts } from "../sandbox/wanted-hosts.ts";
import type { Scope, ServerDefinition, SharedBy } from "../settings/define/definition.ts";
import { defaults } from "../settings/schema/defaults.ts";
import { ServerSkills } from "../skills/server-skills.ts";
import type { Skill } from "../skills/skill.ts";
import { SkillStore } from "../skills/skill-store.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { createTurns } from "../text/turns.ts";
import type { Admission } from "../trust/admit.ts";
import type { Configuration } from "../trust/configuration.ts";
import { type EntryTrust, entryTrust } from "../trust/entry-trust.ts";
import { AcceptedTools, type ListedTools } from "./accepted-tools.ts";
import { AcceptedViews } from "./accepted-views.ts";
import type { Catalog, CatalogTool } from "./catalog.ts";
import { ownerOf } from "./catalog-cache.ts";
import type { CachedCatalog } from "./catalog-store.ts";
import { Connection } from "./connection.ts";
import { isFailedStart } from "./failed-starts.ts";
import { type FilteredCatalog, filterCatalog } from "./filtered-catalog.ts";
import { createOpener } from "./opener.ts";
import { mayHaveRoots } from "./roots.ts";
import { initialServerState, notConnectedError } from "./server-state.ts";
import type { ServerContext } from "./servers.ts";
import { sharedBy } from "./sharing.ts";
import { definitionDigest, prepareDigests } from "./tool-changes.ts";
import { viewAddressesOf } from "./tool-view.ts";

/** A server of the settings, or the demo server, which has no definition. */
export interface ServerEntry {
  readonly name: string;
  readonly admission: Admission;
  readonly definition?: ServerDefinition;
  readonly scope?: Scope;
  /** Whether the server is connected only when a caller names it or uses it. */
  readonly isLazy: boolean;
}

/** What a connection is for. Without it, the connection is the shared one of a host. */
export interface ConnectionPurpose {
  /** The era to try first. If absent, the era of the last connection. */
  readonly era?: Era;
  /** The capabilities that the connection declares to the server, and who answers the server's questions. */
  readonly declare?: DeclaredCapabilities;
  readonly onQuestion?: QuestionHandler;
}

/** The catalog of a connected server, with the protocol, transport and capabilities of the connection. */
type Listing = Pick<CachedCatalog, "catalog" | "hidden" | "offer" | "peer" | "capabilities">;

interface UnsavedListing extends Listing {
  /** Whether the host chose the era. Then the protocol of the last connection stays in the cache. */
  readonly choosesEra: boolean;
  readonly listed: ListedTools;
}

/**
 * Milliseconds after which Fairlead negotiates the protocol again, because an updated server may support a newer
 * protocol version.
 */
const protocolLifetime = 7 * 24 * 60 * 60 * 1000;

const noSkills: readonly Skill[] = [];

/** One server of a host. A changed definition is a new `Server`. */
export class Server {
  readonly name: string;
  /** Identifies the definition, the files that it runs, its values and its permissions. May contain secrets. */
  readonly identity: string;
  readonly accepted: AcceptedTools;
  readonly skills: ServerSkills;
  readonly views: AcceptedViews;
  /** What its programs want to reach from their sandbox, besides the listed hosts. */
  readonly wantedHosts: WantedHosts = new WantedHosts();
  /** The connection that all requests share, unless they name another one. Undefined if the server may not start. */
  readonly shared: Connection | undefined;
  readonly #context: ServerContext;
  #entry: ServerEntry;
  readonly #since: number;
  /** Further connections: the shared one of the legacy era, and those of single gateway clients. By id. */
  readonly #others = new Map<string, Connection>();
  readonly #purposes = new WeakMap<Connection, ConnectionPurpose>();
  /** Connections that gateway clients have left because they no longer share one. */
  readonly #left = new WeakSet<Connection>();
  /** Resolves when the connections of this server's earlier definition are closed. */
  #predecessorEnded: Promise<unknown> | undefined;
  #redact: Redact | undefined;
  #asksBack = false;
  #isUsedByModern = false;
  #forLegacy: Connection | Promise<Connection> | undefined;
  /** The catalog that the registries show. */
  #catalog: FilteredCatalog | undefined;
  /** The tools of `#catalog`. */
  #listed: ListedTools;
  /** The tools that the other connections list. */
  readonly #listedByOthers = new WeakMap<Connection, ListedTools>();
  readonly #taken = new WeakMap<Connection, FilteredCatalog>();
  /** What the server reported about itself on its last connection, or what the cache has. */
  #remembered: Pick<Listing, "catalog" | "peer" | "capabilities"> | undefined;
  #cached: Promise<CachedCatalog | undefined> | undefined;
  #acceptedRead: Promise<void> | undefined;
  #unsaved: UnsavedListing | undefined;
  #saving: Promise<unknown> = Promise.resolve();
  #accepting: Promise<void> | undefined;

  constructor(entry: ServerEntry, identity: string, context: ServerContext) {
    this.name = entry.name;
    this.identity = identity;
    this.#entry = entry;
    this.#context = context;
    this.#since = context.clock.now();
    this.accepted = new AcceptedTools(() => context.lockOf(this));
    const { definition } = entry;
    const { state } = context.configuration().locations;
    const store = definition && new SkillStore(state, ownerOf(definition));
    this.skills = new ServerSkills(
      entry.name,
      () => this.#catalog?.catalog.skills ?? noSkills,
      store,
      (skill) => this.accepted.lock().skillDrift(skill),
    );
    this.views = new AcceptedViews(this.accepted);
    this.#listed = this.accepted.list([], { isNew: false });
    this.shared = entry.admission.status === "admitted" ? this.#createConnection(context.options, true) : undefined;
  }

  /** The definition; undefined if the server may not start, and for the demo server. */
  get definition(): ServerDefinition | undefined {
    return this.#entry.admission.status === "admitted" ? this.#entry.definition : undefined;
  }

  get scope(): Scope | undefined {
    return this.#entry.scope;
  }

  get isLazy(): boolean {
    return this.#entry.isLazy;
  }

  /** Whether this is the built-in demo server. Its tools and prompts always have the server's name in theirs. */
  get isDemo(): boolean {
    return this.#entry.definition === undefined && this.name === demoName && this.scope === undefined;
  }

  get configuration(): Configuration {
    return this.#context.configuration();
  }

  get state(): ServerState {
    return this.shared?.state ?? initialServerState(this.name, this.#entry.admission, this.#since);
  }

  /**
   * Whether it is a program that all clients can share without noticing: in the protocol of its last connection, no
   * request depends on an earlier one.
   */
  get isStateless(): boolean {
    const { transport, resolved = transport } = this.definition ?? {};
    return resolved?.kind === "stdio" && this.facts()?.era === "modern" && this.shareOf() === "all";
  }

  /** The address of an HTTP server, as far as its variables are set; undefined for programs. */
  get #url(): string | undefined {
    const { transport, resolved = transport } = this.definition ?? {};
    return resolved === undefined || resolved.kind === "stdio" ? undefined : resolved.url;
  }

  /** The longest time without a response or progress for one request, in milliseconds. */
  get timeout(): number {
    return this.definition?.timeout ?? defaults.timeout;
  }

  /** Whether `"trust": true` counts. Undefined if the entry does not say `"trust": true`. */
  get entryTrust(): EntryTrust | undefined {
    if (this.isDemo) return undefined;
    const entry = this.configuration.servers.find(({ server }) => server.name === this.name);
    return entry && entryTrust(entry, this.configuration);
  }

  /** Whether the settings let the server learn the user's folders. */
  get mayHaveRoots(): boolean {
    return this.definition !== undefined && mayHaveRoots(this.definition, this.configuration);
  }

  /** Hides the secrets of the server's latest connection in a text. */
  get redact(): Redact | undefined {
    return this.#redact;
  }

  /** Notes a step of connecting and passes it to the host's `observe`. */
  observe(step: ConnectStep): void {
    if (step.step === "definition") this.#redact = step.redact;
    this.#context.options.observe?.(this.name, step);
  }

  /** Takes over the entry of a new configuration whose identity is the same. */
  keep(entry: ServerEntry): void {
    this.#entry = entry;
    this.#forLegacy = undefined;
  }

  /**
   * Connects if needed, reads the catalog, and returns the connection.
   *
   * @param own A gateway client's connection, perhaps of this server's earlier definition. Default: the shared one.
   * @throws HostError with the reason why the server may not start or could not be connected
   */
  async ready(signal?: AbortSignal, own?: Connection): Promise<Connection> {
    this.#context.closing.throwIfAborted();
    if (this.shared === undefined) throw notConnectedError(this.state);
    return (own ?? this.shared).latest.ready(signal);
  }

  /** The shared connection, if it is connected and its catalog was read. */
  get connected(): Connection | undefined {
    return this.shared?.isReady === true && !this.#context.closing.aborted ? this.shared : undefined;
  }

  /** Whether any of its connections is open. */
  get hasConnection(): boolean {
    return this.#connections.some(({ state }) => state.status === "connected");
  }

  /** Keeps the server running. It may be stopped as idle after the returned function is called. */
  use(): () => void {
    return this.shared?.use() ?? (() => {});
  }

  /**
   * Ends all connections: the server was removed, or its definition was replaced. Resolves when they are closed and the
   * catalog is saved.
   *
   * @param successor The server with the new definition. What waits for a connection of this one waits for the
   *   successor's. Its programs start when those of this server have ended.
   */
  async close(successor?: Server): Promise<void> {
    const ended = Promise.all(this.#connections.map((connection) => connection.close())).then(() => this.saveNoted());
    if (successor) successor.#takeOver(this, ended);
    await ended;
  }

  /** Disconnects all its connections. The next request connects again. */
  async stop(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.stop()));
  }

  /** Disconnects all its connections, and connects those again that were open. If none was, connects the shared one. */
  async restart(): Promise<void> {
    const open = this.#connections.filter(({ state }) => state.status === "connected");
    const connections = open.length > 0 || this.shared === undefined ? open : [this.shared];
    const starts = await Promise.all(connections.map((connection) => connection.stopForRestart()));
    await Promise.all(starts.map((start) => start()));
  }

  get #connections(): readonly Connection[] {
    return [...(this.shared ? [this.shared] : []), ...this.#others.values()];
  }

  #takeOver(predecessor: Server, ended: Promise<unknown>): void {
    if (this.shared === undefined) return;
    this.#predecessorEnded = ended;
    this.shared.startAfter(ended);
    predecessor.shared?.setSuccessor(this.shared);
    for (const [id, connection] of predecessor.#others)
      if (this.definition !== undefined)
        connection.setSuccessor(this.other(id, predecessor.#purposes.get(connection) ?? {}));
  }

  // The gateway's connections

  /** Whether `sharedFor` may have to start the server, to find out which eras it supports. */
  mustFindShared(era: Era): boolean {
    return era === "legacy" && this.#forLegacy === undefined;
  }

  /** The shared connection for clients of this era: many tools work in one era only, and some servers support both. */
  sharedFor(era: Era): Connection | Promise<Connection> {
    if (this.shared === undefined) return Promise.reject(notConnectedError(this.state));
    if (era === "legacy") return this.#forLegacy ?? this.#findForLegacy(this.shared);
    this.#isUsedByModern = true;
    return this.shared;
  }

  /** A connection beside the shared one, for example of one gateway client. Created when first asked for. */
  other(id: string, purpose: ConnectionPurpose): Connection {
    const existing = this.#others.get(id);
    if (existing !== undefined) return existing;
    if (this.definition === undefined) throw notConnectedError(this.state);
    const connection = this.#createConnection(purpose, false);
    if (this.#predecessorEnded !== undefined) connection.startAfter(this.#predecessorEnded);
    this.#others.set(id, connection);
    return connection;
  }

  /**
   * The connection that gateway clients with these further capabilities share instead of another one: a legacy server
   * learns of capabilities only once for each connection.
   */
  sharedWith(more: SharedCapabilities, instead: Connection): Connection {
    const { declare, onQuestion } = this.#context.options;
    const { era } = this.#purposes.get(instead) ?? {};
    return this.other(sharedId(more, era), {
      era,
      declare: { elicitation: false, roots: false, ...declare, ...more },
      onQuestion,
    });
  }

  /** The connections for these further capabilities that there are. */
  findSharedWith(more: SharedCapabilities): readonly Connection[] {
    return [undefined, "legacy" as const].flatMap((era) => this.findOther(sharedId(more, era)) ?? []);
  }

  /** Closes the connection with this id, if there is one. */
  async closeOther(id: string): Promise<void> {
    const connection = this.#others.get(id);
    if (connection === undefined) return;
    this.#others.delete(id);
    await connection.close();
    const listed = this.#listedByOthers.get(connection);
    this.#listedByOthers.delete(connection);
    if (listed) this.accepted.drop(listed);
  }

  /** The connection with this id, if there is one. */
  findOther(id: string): Connection | undefined {
    return this.#others.get(id);
  }

  /**
   * Whether gateway clients share the connection. With `owner`, the client that asks: it does not share a connection on
   * which the server may still ask something for another client.
   */
  shareOf(connection: Connection | undefined = this.shared, owner?: string): SharedBy {
    if (this.definition === undefined) return "all";
    const asksForOthers = owner !== undefined && connection?.isReady === true && connection.mayAskForOthers(owner);
    return sharedBy(this.definition, {
      peer: connection?.peer ?? this.#remembered?.peer,
      asksBack: this.#asksBack || (connection !== undefined && this.#left.has(connection)) || asksForOthers,
    });
  }

  /** Gives each gateway client its own connection instead of this one. Not stored on disk. */
  unshare(connection: Connection): void {
    this.#left.add(connection);
  }

  /** Whether the server has sent requests without saying for which gateway client. */
  get asksBack(): boolean {
    return this.#asksBack;
  }

  /** Records that the server sends requests without saying for which gateway client. */
  noteAsksBack(): void {
    const { definition } = this;
    if (definition === undefined || this.#asksBack) return;
    this.#asksBack = true;
    // A failed write is ignored. The next run records the server's next request again.
    this.#saving = Promise.allSettled([this.#saving, this.#context.cache.noteAsksBack(definition)]);
  }

  /** Identifies the process or service that runs a task of this connection. Undefined if it does not run. */
  taskScope(connection: Connection | undefined = this.shared): string | undefined {
    const { definition } = this;
    if (definition === undefined) return undefined;
    const process = definition.transport.kind === "stdio" ? connection?.connectionId : "";
    const { root } = this.configuration.locations;
    return process === undefined ? undefined : JSON.stringify([definition.fingerprint, root, process]);
  }

  /** Reads a list again that another program's connection to the server has reported as changed. */
  listChanged(list: ListName): void {
    for (const connection of this.#connections) connection.listChanged(list);
  }

  /** Tells a connected legacy server that the roots have changed. Modern servers ask for the roots when they need them. */
  async rootsChanged(connection: Connection | undefined = this.shared): Promise<void> {
    const { state } = connection ?? {};
    if (state?.status === "connected" && state.peer.era === "legacy" && this.mayHaveRoots)
      await Promise.allSettled([connection?.notify("notifications/roots/list_changed")]);
  }

  async #findForLegacy(shared: Connection): Promise<Connection> {
    const choosing = this.#chooseForLegacy(shared).catch(() => shared);
    this.#forLegacy = choosing;
    const chosen = await choosing;
    // If the server is not connected, the next request tries again.
    if (this.#forLegacy === choosing) this.#forLegacy = chosen.state.status === "connected" ? chosen : undefined;
    return chosen;
  }

  /** Returns a second connection if the server also supports the legacy era, otherwise the shared one. */
  async #chooseForLegacy(shared: Connection): Promise<Connection> {
    // Legacy servers and servers that are not shared need no second connection.
    if (this.facts()?.era !== "modern" || this.shareOf() !== "all") return shared;
    const { declare, onQuestion } = this.#context.options;
    const legacy = this.other("legacy", { era: "legacy", declare, onQuestion });
    await Promise.allSettled([legacy.startForClient()]);
    if (legacy.peer?.era !== "legacy" || legacy.state.status !== "connected") {
      await legacy.stop();
      return shared;
    }
    // No modern client needs the modern connection.
    if (!this.#isUsedByModern) await shared.stop();
    return legacy;
  }

  // Catalogs and accepted definitions

  /** The catalog that the registries show: of a connection, or of the cache. */
  get catalog(): FilteredCatalog | undefined {
    return this.#catalog;
  }

  /** The catalog that a connection has listed last; undefined if it has not listed yet. */
  catalogOf(connection: Connection): FilteredCatalog | undefined {
    return this.#taken.get(connection.latest);
  }

  /** Shows the demo server's catalog, which is built in, if there is none yet. */
  showDemo(): void {
    if (!this.isDemo || this.shared === undefined || this.#catalog !== undefined) return;
    this.#show(filterCatalog(demoCatalog, { serverName: this.name, filter: { excludeTools: [] }, mayGrow: true }));
  }

  /** The tools that a connection lists, compared with the accepted definitions. Default: the tools that are shown. */
  listedBy(connection?: Connection): ListedTools {
    return (connection && this.#listedByOthers.get(connection.latest)) ?? this.#listed;
  }

  /** What the server reported about itself. Undefined if it is neither connected nor in the cache. */
  facts(connection: Connection | undefined = this.shared): ServerDescription | undefined {
    const { catalog, peer, capabilities } = (connection && listingOf(connection)) ?? this.#remembered ?? {};
    if (peer === undefined || capabilities === undefined) return undefined;
    const serverInfo: JsonObject = { ...peer.serverInfo };
    return { era: peer.era, serverInfo, capabilities, instructions: catalog?.instructions };
  }

  /** Shows the cached catalog. Undefined if there is none, or if it has expired. Connects to no server. */
  async recall(): Promise<CachedCatalogInfo | undefined> {
    const live = this.shared?.filteredCatalog;
    if (live) return { server: this.name, offer: live.offer };
    const { definition } = this;
    if (definition === undefined) return undefined;
    const [cached, asksBack] = await Promise.all([
      this.#readCached(definition),
      this.#context.cache.asksBack(definition),
      this.#readAccepted(definition),
    ]);
    if (asksBack) this.#asksBack = true;
    if (cached === undefined) return undefined;
    if (cached.catalog.skills !== undefined) await this.skills.load();
    const { offer: counts, peer, savedAt, freshUntil = Number.POSITIVE_INFINITY } = cached;
    // The tools of an expired catalog are not listed.
    const isExpired = freshUntil < this.#context.now();
    const filtered = this.#remember(cached, this.#catalog !== undefined || !isExpired);
    if (isExpired) return undefined;
    if (this.#catalog === undefined) this.#show(filtered);
    return { server: this.name, offer: counts, peer, savedAt };
  }

  /** Reads the cached catalog and the accepted definitions, before a connection is opened. */
  async beforeOpen(connection: Connection): Promise<{
    readonly isFirstRun: boolean;
    /** The protocol of the last connection, if it is at most 7 days old. */
    readonly era: NegotiatedProtocol | undefined;
  }> {
    const { definition } = this;
    if (definition === undefined) return { isFirstRun: false, era: undefined };
    const [cached] = await Promise.all([this.#readCached(definition), this.#readAccepted(definition)]);
    if (cached === undefined) return { isFirstRun: true, era: undefined };
    const isShown = this.#catalog !== undefined;
    if (connection === this.shared) this.#remember(cached, isShown);
    else {
      connection.setPreviousCatalog(toFiltered(cached), isShown);
      this.#list(connection, cached);
    }
    const isRecent = this.#context.now() - cached.reachedAt < protocolLifetime;
    return { isFirstRun: false, era: isRecent ? toProtocol(cached.peer) : undefined };
  }

  /** How a prompt differs from the lock file; undefined if it does not. */
  promptChangeOf(prompt: string): ChangedDefinition | undefined {
    const drift = this.accepted.lock().promptDrift(prompt);
    return drift && { difference: () => drift };
  }

  /** Accepts the current definition of a tool, and saves that. */
  async accept(tool: string, connection?: Connection): Promise<void> {
    this.listedBy(connection).accept(tool);
    await this.save(connection?.latest);
  }

  /** The names of the listed tools whose view has this address. */
  toolsWithView(uri: string, connection?: Connection): readonly string[] {
    if (!uri.startsWith("ui://")) return [];
    const tools = this.listedBy(connection).tools();
    return tools.flatMap((tool) => (viewAddressesOf(tool).includes(uri) ? [tool.name] : []));
  }

  /** Saves the digests of accepted views and definitions. Resolves also if saving fails. */
  async saveAccepted(): Promise<void> {
    const { definition } = this;
    if (definition !== undefined) await this.#saveAccepted(definition);
  }

  /** Reads again which definitions the user has accepted, if they were read before: another process may have added some. */
  async readAcceptedAgain(): Promise<void> {
    const { definition } = this;
    if (definition === undefined || this.#acceptedRead === undefined) return;
    await this.#acceptedRead;
    const latest = await this.#context.cache.readAccepted(definition);
    if (latest !== undefined) this.accepted.addEarlier(latest);
  }

  /**
   * Why Fairlead, once connected, could not tell whether the tool's definition has changed. Undefined if it could tell,
   * or if the tool is already listed. Connects to no server.
   */
  async expectedDoubt(tool: string): Promise<string | undefined> {
    const { definition } = this;
    if (definition === undefined || this.#listed.toolOf(tool) !== undefined) return undefined;
    await this.#readAccepted(definition);
    return this.accepted.isComparable(tool) ? undefined : this.#context.cache.whyUnsaved();
  }

  /**
   * Why the cache has kept an earlier definition of a listed tool, if its server has changed it since. Undefined if the
   * cache follows the server, or if the server is connected. Connects to no server.
   */
  async cacheDoubt(tool: string): Promise<string | undefined> {
    const isCached = this.definition !== undefined && this.shared?.filteredCatalog === undefined;
    return isCached && this.#listed.toolOf(tool) !== undefined ? this.#context.cache.whyNotKept() : undefined;
  }

  get isUnsaved(): boolean {
    return this.#unsaved !== undefined;
  }

  /** Saves the catalog and the accepted definitions. Resolves when they are on disk, or cannot be saved. */
  async save(connection: Connection | undefined = this.shared): Promise<void> {
    if (connection !== undefined) this.#note(connection);
    await this.saveNoted();
  }

  /**
   * Saves new accepted definitions at once. Resolves also if saving fails. Undefined if there is nothing to save.
   */
  acceptedSaved(): Promise<void> | undefined {
    if (this.#unsaved !== undefined) void this.saveNoted();
    return this.#accepting;
  }

  /**
   * Saves the noted catalog after earlier saves. An error is ignored: the next run reads the catalog from the server.
   */
  saveNoted(): Promise<unknown> {
    const { definition } = this;
    const listing = this.#unsaved;
    if (listing === undefined || definition === undefined) return this.#saving;
    this.#unsaved = undefined;
    const { listed } = listing;
    const compared = this.#saving.then(() => prepareDigests(listed.tools())).then(() => listed.compareInTurns());
    const accepting: Promise<void> = compared.then(() => this.#saveAccepted(definition));
    this.#accepting = accepting;
    this.#saving = compared.then(async () => {
      await createTurns(0).done(1);
      const accepted = this.accepted.unaccepted(listed);
      await accepting;
      // The next run takes cached definitions for accepted ones. So none is cached that could not be saved as accepted.
      if (!this.accepted.isUnsaved) await this.#saveCatalog(definition, listing, accepted).catch(() => undefined);
    });
    void accepting.then(() => {
      if (this.#accepting === accepting) this.#accepting = undefined;
    });
    return this.#saving;
  }

  #show(filtered: FilteredCatalog): void {
    this.#catalog = filtered;
    this.#context.onCatalog(this, filtered);
  }

  /** Takes over the catalog that a connection has read. */
  #takeCatalog(connection: Connection): void {
    const filtered = connection.filteredCatalog;
    if (filtered === undefined) return;
    if (this.#taken.get(connection) !== filtered) {
      this.#taken.set(connection, filtered);
      this.#list(connection, filtered.catalog.tools);
    }
    if (this.#isShown(connection) && this.#catalog !== filtered) {
      if (connection !== this.shared) {
        this.shared?.setPreviousCatalog(filtered);
        this.#listed = this.accepted.list(filtered.catalog.tools, { isNew: true, before: this.#listed });
      }
      this.#show(filtered);
    }
    this.#note(connection);
    this.#context.saveSoon();
  }

  /** Whether the registries show this connection's catalog: the shared one, unless it is down or its clients have left. */
  #isShown(connection: Connection): boolean {
    if (connection === this.shared || this.shared?.filteredCatalog === undefined) return true;
    return (this.#asksBack || this.#left.has(this.shared)) && this.shared.peer?.era === "legacy";
  }

  /** Sets the tools that a connection lists: as the server lists them now, or from the cache. */
  #list(connection: Connection, from: CachedCatalog | FilteredCatalog["catalog"]["tools"]): void {
    const isNew = !("catalog" in from);
    const tools = isNew ? from : from.catalog.tools;
    if (!isNew) for (const tool of from.accepted ?? []) this.accepted.meet(tool, false);
    if (connection === this.shared) this.#listed = this.accepted.list(tools, { isNew, before: this.#listed });
    else {
      const before = this.#listedByOthers.get(connection);
      this.#listedByOthers.set(connection, this.accepted.list(tools, { isNew, before }));
    }
  }

  #remember(cached: CachedCatalog, isShown: boolean): FilteredCatalog {
    const filtered = toFiltered(cached);
    this.#remembered = cached;
    this.shared?.setPreviousCatalog(filtered, isShown);
    if (this.shared !== undefined) this.#list(this.shared, cached);
    return filtered;
  }

  /** Copies the catalog of a connection now. The server may be disconnected before it is saved. */
  #note(connection: Connection): void {
    const listing = this.definition && listingOf(connection);
    if (listing === undefined) return;
    if (this.#isShown(connection)) this.#remembered = listing;
    const choosesEra = this.#purposes.get(connection)?.era !== undefined;
    this.#unsaved = { ...listing, choosesEra, listed: this.listedBy(connection) };
  }

  #readCached(definition: ServerDefinition): Promise<CachedCatalog | undefined> {
    this.#cached ??= this.#context.cache.read(definition);
    return this.#cached;
  }

  #readAccepted(definition: ServerDefinition): Promise<void> {
    this.#acceptedRead ??= this.#context.cache.readAccepted(definition).then((earlier) => {
      if (earlier) this.accepted.setEarlier(earlier);
    });
    return this.#acceptedRead;
  }

  async #saveAccepted(definition: ServerDefinition): Promise<void> {
    const news = this.accepted.news();
    if (news.size === 0) return;
    try {
      this.accepted.setEarlier(await this.#context.cache.addAccepted(definition, news));
      this.accepted.setUnsaved(undefined);
    } catch (error) {
      this.accepted.setUnsaved(errorMessage(error));
    }
  }

  async #saveCatalog(
    definition: ServerDefinition,
    { choosesEra, catalog, hidden, offer: counts, peer: negotiated, capabilities }: UnsavedListing,
    unaccepted: readonly CatalogTool[],
  ): Promise<void> {
    const before = await this.#readCached(definition);
    const accepted = await this.#newestAccepted(definition, unaccepted);
    const peer = choosesEra && before !== undefined ? before.peer : negotiated;
    const savedAt = this.#context.now();
    const { ttlMs } = catalog;
    const isAsBefore =
      before !== undefined &&
      savedAt - before.reachedAt < protocolLifetime &&
      before.peer.era === peer.era &&
      before.peer.transport === peer.transport;
    const latest: CachedCatalog = {
      catalog,
      hidden,
      offer: counts,
      capabilities,
      peer,
      accepted,
      // The protocol may have been negotiated in an earlier run.
      reachedAt: choosesEra ? (before?.reachedAt ?? 0) : isAsBefore ? before.reachedAt : savedAt,
      savedAt,
      freshUntil: ttlMs === undefined ? undefined : savedAt + ttlMs,
    };
    this.#cached = Promise.resolve(latest);
    await this.#context.cache.save(definition, latest);
  }

  /**
   * Replaces definitions that were accepted here by those that another process has accepted later, such as a command
   * whose server runs in this background host. The next difference is one from the newest.
   */
  async #newestAccepted(
    definition: ServerDefinition,
    tools: readonly CatalogTool[],
  ): Promise<CachedCatalog["accepted"]> {
    if (tools.length === 0) return tools;
    const { cache } = this.#context;
    const [cached, digests] = await Promise.all([cache.read(definition), cache.readAccepted(definition)]);
    const others = new Map(
      [...(cached?.catalog.tools ?? []), ...(cached?.accepted ?? [])].map((tool) => [tool.name, tool]),
    );
    const ageOf = (tool: CatalogTool): number => digests?.of(tool.name)?.indexOf(definitionDigest(tool)) ?? -1;
    return tools.map((tool) => {
      const other = others.get(tool.name);
      return other !== undefined && ageOf(other) > ageOf(tool) ? other : tool;
    });
  }

  // Creation and events of connections

  #createConnection(purpose: ConnectionPurpose, isShared: boolean): Connection {
    const { clock, options, group, configuration, emit } = this.#context;
    const { observe, recover = false, idleStop = 300_000 } = options;
    const { name } = this;
    const definition = this.#entry.definition ?? { name, excludeTools: [] };
    /** Whether the server has worked since the connection's last start. A lost connection is then not a failed start. */
    let hasWorked = false;
    const connection: Connection = new Connection(
      {
        definition,
        open: createOpener(this, purpose, this.#context, () => connection),
        connectTimeout: configuration().settings.host.connectTimeout,
        catalogBytes: () => configuration().settings.host.limits.catalogBytes,
        clock,
        observe: (step) => observe?.(name, step),
        onState: (state) => {
          const isListed = state.status === "connected" && state.offer !== undefined;
          if (isListed) this.#takeCatalog(connection);
          if (state.status === "connecting") hasWorked = false;
          this.#noteStart(state, isListed, hasWorked);
          hasWorked ||= isListed;
          if (isShared) emit({ type: "state", state });
        },
        onNews: (news) => {
          if (news.type === "catalog") this.#takeCatalog(connection);
          if (isShared || isForAll(news)) emit(news);
        },
      },
      {
        group,
        isProgram: this.#entry.definition?.transport.kind === "stdio",
        recover,
        traces: () => this.#context.telemetry.current?.connection({ name, url: this.#url }),
        idleAfter: () => {
          const isLazy = options.lazy === true || this.definition?.extras.start === "lazy";
          return recover && isLazy ? idleStop : undefined;
        },
      },
    );
    this.#purposes.set(connection, purpose);
    return connection;
  }

  #noteStart(state: ServerState, isListed: boolean, hasWorked: boolean): void {
    const { definition } = this;
    if (definition === undefined || hasWorked) return;
    if (isListed) this.#context.failedStarts.worked(definition);
    if (state.status === "disconnected" && "message" in state && isFailedStart(state.reason))
      this.#context.failedStarts.failed(definition, state.message);
  }
}

function sharedId({ sampling, extensions = {} }: SharedCapabilities, era: Era | undefined): string {
  return canonicalJson(["shared", sampling, extensions, era ?? ""]);
}

/** Whether the news of a single client's connection concern all clients: what servers list, and resources. */
function isForAll({ type }: ServerNews): boolean {
  return type === "catalog" || type === "list_changed" || type === "resource_updated";
}

/** The catalog that a connection lists now; undefined if it is not connected. */
function listingOf(connection: Connection): Listing | undefined {
  const { filteredCatalog, state, capabilities } = connection;
  if (filteredCatalog === undefined || state.status !== "connected") return undefined;
  const { catalog, hidden, offer: counts } = filteredCatalog;
  return { peer: state.peer, capabilities, offer: counts, catalog, hidden: [...hidden] };
}

function toFiltered({ catalog, hidden, offer: counts }: CachedCatalog): FilteredCatalog {
  return { catalog, hidden: new Map(hidden), offer: counts };
}

function toProtocol({ era, transport }: Peer): NegotiatedProtocol | undefined {
  if (transport === undefined) return undefined;
  if (era === "legacy") return { era, transport };
  return transport === "sse" ? undefined : { era, transport };
}

/** The lists that a session with the demo server would read. */
const demoCatalog: Catalog = {
  tools: toolDefinitions,
  prompts: promptDefinitions,
  resources: resourceDefinitions,
  resourceTemplates: templateDefinitions,
  dropped: [],
  repaired: [],
  truncated: [],
};
