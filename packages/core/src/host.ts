/**
 * Opens a host: loads settings, connects the servers that are allowed to start, reads their catalogs and runs requests
 * to them.
 */

import { systemClock } from "./clock.ts";
import { HostError } from "./errors.ts";
import { createEmitter, MCPDiscoveryState, type ServerChanges, type ServerState } from "./events.ts";
import { createCatalogs } from "./host/catalogs/catalogs.ts";
import { toHostPrompts, toHostResources, toHostTools } from "./host/catalogs/listings.ts";
import { checkHostOptions, toConfigurationOptions, withCheckedListeners } from "./host/options.ts";
import { createHostRequests, type HostRequests } from "./host/requests.ts";
import { createHostSecrets } from "./host/secrets.ts";
import { createConnectContext } from "./host/servers/connect-context.ts";
import { createLiveConfiguration } from "./host/servers/live-configuration.ts";
import { createHostServers } from "./host/servers/servers.ts";
import type { Host, HostOptions, OpenHostOptions } from "./host/types.ts";
import { createIdeTrust, type IdeTrust } from "./ide/ide-trust.ts";
import { OpenWork, once } from "./request/open-work.ts";
import { unlessAborted } from "./server/unless-aborted.ts";
import type { SettingsFile } from "./settings/define/definition.ts";
import { closest } from "./text/closest.ts";
import { admit } from "./trust/admit.ts";
import { approve } from "./trust/approvals.ts";
import { type AdmittedServer, type Configuration, loadConfiguration } from "./trust/configuration.ts";
import { refuseNested } from "./trust/own-entry.ts";
import type { TrustDecision } from "./trust/trust-decision.ts";

export type { Progress } from "@fairlead/wire";
export { demoName } from "./demo/name.ts";
export type { FailedStart } from "./host/catalogs/failed-starts.ts";
export type { HostPrompt, HostResource, HostTool } from "./host/catalogs/listings.ts";
export type * from "./host/types.ts";

/**
 * Creates a host from the settings. Cached tools are listed at once. `start` connects the servers; a request connects
 * its own server.
 *
 * @throws HostError `usage` if an option is wrong
 * @example
 * ```ts
 * import { createHost } from "@fairlead/core";
 *
 * const host = await createHost();
 * const { content } = await host.call("demo", "greet", { name: "Ada" });
 * await host[Symbol.asyncDispose]();
 * ```
 */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  checkHostOptions(options);
  const from = toConfigurationOptions(options);
  const ide = createIdeTrust({ environment: from.environment, ...(options.clock && { clock: options.clock }) });
  const load = (): Promise<Configuration> => loadConfiguration({ ...from, ide });
  const first = await load().catch(async (error: unknown) => {
    await ide.close();
    throw error;
  });
  const host = openHost(first, { recover: true, ...options, load, ide });
  await Promise.all([host.recall(), host.policy()]);
  return host;
}

/** Opens a host with a loaded configuration. After `dispose`, the host neither runs nor writes anything. */
export function openHost(first: Configuration, options: OpenHostOptions & Reloading = {}): Host {
  const { clock = systemClock, now = Date.now, load, ide } = options;
  if (options.declare !== undefined) refuseNested(first.environment.env);
  const { on, emit } = createEmitter();
  const work = new OpenWork();
  const configuration = createLiveConfiguration(first);
  const secrets = createHostSecrets(configuration, options.observe);
  const context = createConnectContext(configuration, { ...options, hideSecrets: secrets.redactor });
  const shared = { ...options, configuration, emit, on, clock, now, secrets, observe: secrets.observe };

  const catalogs = createCatalogs({ ...shared, secret: context.secret, accountAt: context.accountAt });
  const servers = createHostServers({
    ...shared,
    context,
    catalogs,
    closing: work.closing,
    ...(options.sample && { sample: (...request) => requests.sample(...request) }),
  });
  const requests: HostRequests = createHostRequests({ ...shared, servers, catalogs, work });
  catalogs.join({
    client: servers.client,
    isStarting: () => servers.manager.getDiscoveryState() === MCPDiscoveryState.IN_PROGRESS,
    tools: requests.binding,
    getPrompt: (server, name, values, signal) => requests.getPrompt(server, name, values, signal ? { signal } : {}),
  });
  const { manager } = servers;
  const { decisions } = requests;
  /** Whether all servers have been started, not only some of them. */
  let isStarted = false;

  /**
   * The items of one server. If `server` is undefined, of all servers (without the demo server, if others are
   * configured).
   *
   * @throws HostError `server_unknown`
   */
  function only<T extends { readonly server: string }>(items: readonly T[], server: string | undefined): readonly T[] {
    if (server === undefined) return items.filter((item) => configuration.isMeantByAll(item.server));
    const client = manager.getClient(server);
    return items.filter((item) => item.server === client?.name);
  }

  /**
   * Like `only`, for registered items.
   *
   * @throws HostError `server_unknown`
   */
  function registered<T extends { readonly serverName: string }>(
    server: string | undefined,
    all: () => readonly T[],
    of: (server: string) => readonly T[],
  ): readonly T[] {
    if (server === undefined) return all().filter((item) => configuration.isMeantByAll(item.serverName));
    const client = manager.getClient(server);
    if (client === undefined) return [];
    catalogs.registerDemo(server);
    return of(client.name);
  }

  /** Applies a new configuration. If a settings file cannot be read (an editor may be writing it), nothing changes. */
  async function takeOver(next: Configuration | undefined): Promise<ServerChanges | undefined> {
    if (next === undefined) return undefined;
    const broken = brokenFile(next);
    if (broken)
      throw new HostError("settings_invalid", `${broken.file} cannot be read; the host keeps its earlier settings`);
    return apply(next);
  }

  /** @param onDecisions Called when decisions follow the new configuration, before servers are stopped. */
  async function apply(next: Configuration, onDecisions = (): void => {}): Promise<ServerChanges> {
    // A replaced server's tools are compared with the saved definitions, so the catalogs are saved first.
    await catalogs.flush();
    const wasTrusted = configuration.current().trust.trusted;
    configuration.replace(next);
    catalogs.reorder();
    // The rules must not wait until the servers of a folder that is no longer trusted have ended.
    if (wasTrusted !== next.trust.trusted) await decisions.renew();
    onDecisions();
    const changes = await servers.update();
    await Promise.all([catalogs.recall(configuration.order()), decisions.renew()]);
    return changes;
  }

  /** Starts the servers again that were used before a reload, and servers that the reload has added. */
  async function startAgain(wasUsed: readonly string[], how: { readonly all: boolean }): Promise<void> {
    const there = new Set(configuration.order());
    await Promise.all([
      how.all ? manager.discoverAllMcpTools() : undefined,
      manager.start(wasUsed.filter((name) => there.has(name))),
    ]);
  }

  const usedServers = (): readonly string[] =>
    manager.states().flatMap(({ name, ...state }) => (isIdle(state) ? [] : [name]));

  /** Applies what the IDE reports now. A trust that has ended is applied even if the settings cannot be read. */
  async function followIde(reload: () => Promise<Configuration>): Promise<void> {
    const before = configuration.current();
    const wasUsed = usedServers();
    const next = await reload().catch(() => undefined);
    const trust = next?.trust ?? unknownTrust;
    const tell = (): void => emit({ type: "ide_trust_changed", trusted: trust.trusted, detail: trust.detail });
    if (next !== undefined && brokenFile(next) === undefined) await apply(next, tell);
    else if (!trust.trusted) await apply(withoutTrust(before, trust), tell);
    await startAgain(wasUsed, { all: isStarted });
  }

  let following: Promise<unknown> = Promise.resolve();
  let isFollowUpPlanned = false;
  if (ide !== undefined && load !== undefined)
    ide.onChange(() => {
      // A report that arrives during a reload needs one more reload, however many reports arrive.
      if (isFollowUpPlanned) return;
      isFollowUpPlanned = true;
      following = following.then(() => {
        isFollowUpPlanned = false;
        return work.run(() => followIde(load)).catch(() => undefined);
      });
    });

  const dispose = once(async () => {
    const ended = work.close();
    await Promise.all([ended, servers.close(), ide?.close()]);
    await requests.close();
    await catalogs.flush();
    await context.close();
  });

  return {
    on: withCheckedListeners(on),
    toolRegistry: catalogs.tools,
    promptRegistry: catalogs.prompts,
    resourceRegistry: catalogs.resources,
    states: () => manager.states(),
    getDiscoveryState: () => manager.getDiscoveryState(),
    tools: (server) =>
      toHostTools(
        registered(
          server,
          () => catalogs.tools.getAllTools(),
          (name) => catalogs.tools.getToolsByServer(name),
        ),
        decisions.decisionOf,
      ),
    prompts: (server) =>
      toHostPrompts(
        registered(
          server,
          () => catalogs.prompts.getAllPrompts(),
          (name) => catalogs.prompts.getPromptsByServer(name),
        ),
      ),
    resources: (server) =>
      toHostResources(
        registered(
          server,
          () => catalogs.resources.getAllResources(),
          (name) => catalogs.resources.getResourcesByServer(name),
        ),
        registered(
          server,
          () => catalogs.resources.getAllTemplates(),
          (name) => catalogs.resources.getTemplatesByServer(name),
        ),
      ),
    quarantined: (server) => only(catalogs.quarantined(), server),
    hidden: (server) => only(catalogs.hidden(), server),
    notes: (server) => only([...catalogs.notes(), ...decisions.notes()], server),
    catalog: (server) => manager.getClient(server) && catalogs.catalog(server),
    failedStarts: () => work.run(() => catalogs.failedStarts()),
    recall: (names = configuration.order()) => work.run(() => catalogs.recall(names)),

    start: ({ servers: names, signal } = {}) =>
      work.run(() => {
        isStarted ||= names === undefined;
        const started = names === undefined ? manager.discoverAllMcpTools() : manager.start(names);
        // The start counts as a use of each server. Without a request within the idle time, the server is stopped.
        if (options.lazy) for (const name of names ?? []) servers.use(name)();
        const why = (): HostError => new HostError("cancelled", "waiting for the servers was cancelled");
        return unlessAborted(started, signal, why);
      }),

    restart: (names) =>
      work.run(async () => {
        const wasUsed = usedServers();
        const changes = await takeOver(await load?.());
        if (names !== undefined) return manager.restart(names);
        if (changes === undefined) return manager.restart(wasUsed);
        // A connected server with an unchanged definition keeps running.
        await startAgain(wasUsed, { all: true });
      }),

    stop: (names) => manager.stop(names),

    reload: (next) =>
      work.run(async () => {
        const changes = await takeOver(next ?? (await load?.()));
        if (changes !== undefined) return changes;
        throw cannotReload();
      }),

    approve: (names) =>
      work.run(async () => {
        if (load === undefined) throw cannotReload();
        const approved = await approveWaiting(configuration.current(), names, new Date(now()));
        if (approved.length > 0) await takeOver(await load());
        return approved;
      }),

    refresh: (server, { signal: given } = {}) =>
      work.run(async (signal) => void (await (await servers.ready(server, signal)).discover(signal)), given),

    problems: () => configuration.current().problems,

    call: (server, tool, args = {}, callOptions = {}) => requests.call(server, tool, args, callOptions),
    callAsModel: requests.callAsModel,
    readResource: requests.readResource,
    getPrompt: requests.getPrompt,
    complete: requests.complete,
    subscribe: requests.subscribe,
    expandReferences: requests.expandReferences,

    policy: decisions.policies,
    decide: async (...request) => (await decisions.explain(...request)).decision,
    explain: decisions.explain,
    changeOf: decisions.changeOf,

    conversation: requests.conversation,
    conversations: requests.conversations,
    hideSecrets: async (text) => (await secrets.redactor())(text),
    runTurn: requests.runTurn,
    asCallableTool: requests.asCallableTool,
    searchTools: requests.searchTools,
    toolOffers: requests.toolOffers,
    relay: requests.relay,
    forward: requests.forward,
    sampleThrough: requests.sampleThrough,
    deniedTo: decisions.deniedTo,
    identify: decisions.identify,
    taskScope(server) {
      const { fingerprint, root } = decisions.identify(server) ?? {};
      const process = servers.processOf(server);
      return fingerprint === undefined || process === undefined
        ? undefined
        : JSON.stringify([fingerprint, root, process]);
    },
    toolsWithin: requests.toolsWithin,
    serverFacts: catalogs.facts.serverFacts,
    shareOf: servers.shareOf,
    mayHaveRoots: servers.mayHaveRoots,
    unshare: catalogs.unshare,
    noteAsksBack: catalogs.noteAsksBack,
    listing: catalogs.listing,
    adopt: catalogs.adopt,
    rootsChanged: () => work.run(servers.rootsChanged),
    isAlwaysQualified: catalogs.isAlwaysQualified,
    clientProfile: (name) => configuration.current().settings.host.clients.get(name),
    flushHistory: requests.flushHistory,

    [Symbol.asyncDispose]: dispose,
  };
}

/** Whether the server is disabled, blocked, or has not been used yet (`lazy`). */
function isIdle(state: Omit<ServerState, "name">): boolean {
  if (state.status === "disabled" || state.status === "blocked") return true;
  return state.status === "disconnected" && "reason" in state && state.reason === "lazy";
}

function cannotReload(): HostError {
  return new HostError("usage", "this host cannot reload its settings: it was opened with a configuration object");
}

interface Reloading {
  /** Reads the settings again. */
  readonly load?: () => Promise<Configuration>;
  /** The IDE that `load` asks. With both, the host follows what the IDE reports. The host closes the connection. */
  readonly ide?: Pick<IdeTrust, "onChange" | "close">;
}

const unknownTrust: TrustDecision = {
  trusted: false,
  source: "default",
  approvesEntries: false,
  detail: "the settings cannot be read",
};

/**
 * The first settings file that cannot be read. The file of an untrusted workspace does not count: with a mistake in it, a
 * workspace could keep its trust.
 */
function brokenFile({ settings, trust }: Configuration): SettingsFile | undefined {
  return settings.files.find(({ state, scope }) => state === "broken" && (scope !== "workspace" || trust.trusted));
}

/** The configuration with the workspace's servers blocked. */
function withoutTrust(configuration: Configuration, trust: TrustDecision): Configuration {
  const facts = { ...configuration, trust, approvals: new Map() };
  return {
    ...configuration,
    trust,
    servers: configuration.servers.map(({ server }) => ({ server, admission: admit(server, facts) })),
  };
}

/**
 * Stores an approval for each named server, for its current definition. Skips servers that need no approval. Returns
 * the approved names.
 *
 * @throws HostError `server_unknown`; `untrusted_folder` for a named server of a folder that is not trusted
 */
async function approveWaiting(
  { servers, locations }: Pick<Configuration, "servers" | "locations">,
  names: readonly string[] | undefined,
  now: Date,
): Promise<readonly string[]> {
  const meant = names === undefined ? servers : names.map((name) => find(servers, name));
  for (const { server, admission } of names === undefined ? [] : meant)
    if (admission.status === "blocked" && admission.reason === "untrusted_folder")
      throw new HostError("untrusted_folder", admission.message, { serverName: server.name, next: admission.next });
  const waiting = meant.flatMap(({ server: { definition }, admission }) => {
    const isWaiting = admission.status === "blocked" && admission.reason === "awaiting_approval";
    return isWaiting && definition !== undefined ? [definition] : [];
  });
  if (waiting.length > 0) await approve(locations.state, locations.root, waiting, now);
  return waiting.map(({ name }) => name);
}

function find(servers: readonly AdmittedServer[], name: string): AdmittedServer {
  const found = servers.find(({ server }) => server.name === name);
  if (found !== undefined) return found;
  const near = closest(
    name,
    servers.map(({ server }) => server.name),
  );
  throw new HostError(
    "server_unknown",
    `there is no server "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`,
  );
}
