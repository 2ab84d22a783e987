/**
 * Opens a host: loads settings, connects the servers that are allowed to start, reads their catalogs and runs requests
 * to them.
 */

import { systemClock } from "./clock.ts";
import { HostError } from "./errors.ts";
import { createEmitter, type ServerChanges, type ServerState } from "./events.ts";
import { once } from "./files/once.ts";
import { createConnectContext } from "./host/connect-context.ts";
import { toHostPrompts, toHostResources, toHostTools } from "./host/listings.ts";
import { checkHostOptions, toConfigurationOptions, withCheckedListeners } from "./host/options.ts";
import { catalogNotes, droppedTools, hiddenTools } from "./host/registries.ts";
import { createHostRequests } from "./host/requests.ts";
import { HostSecrets } from "./host/secrets.ts";
import type { Host, HostOptions, OpenedHost, OpenHostOptions } from "./host/types.ts";
import { watchFiles } from "./host/watch-files.ts";
import { createIdeTrust, type IdeTrust } from "./ide/ide-trust.ts";
import { OpenWork } from "./request/open-work.ts";
import type { Server } from "./server/server.ts";
import { Servers } from "./server/servers.ts";
import { unlessAborted } from "./server/unless-aborted.ts";
import { optionOrigin, type SettingsFile } from "./settings/define/definition.ts";
import { closest } from "./text/closest.ts";
import { admit } from "./trust/admit.ts";
import { approvalsPath, approve } from "./trust/approvals.ts";
import { type AdmittedServer, type Configuration, loadConfiguration } from "./trust/configuration.ts";
import { refuseNested } from "./trust/own-entry.ts";
import type { TrustDecision } from "./trust/trust-decision.ts";

export type { Progress } from "@fairlead/wire";
export { demoName } from "./demo/name.ts";
export type { HostPrompt, HostResource, HostTool } from "./host/listings.ts";
export type * from "./host/types.ts";
export type { FailedStart } from "./server/failed-starts.ts";

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
export function createHost(options: HostOptions = {}): Promise<Host> {
  return createOpenedHost(options);
}

/** `createHost` with what the gateway needs. */
export async function createOpenedHost(options: HostOptions = {}): Promise<OpenedHost> {
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
export function openHost(first: Configuration, options: OpenHostOptions & Reloading = {}): OpenedHost {
  const { clock = systemClock, now = Date.now, load, ide, watch = false } = options;
  if (options.declare !== undefined) refuseNested(first.environment.env);
  const { on, emit } = createEmitter();
  const work = new OpenWork();
  const secrets = new HostSecrets(() => servers);
  const context = createConnectContext(() => servers.configuration, {
    ...options,
    hideSecrets: () => secrets.redactor(),
  });
  const servers: Servers = new Servers(first, {
    options: { ...options, sample: options.sample && ((...request) => requests.sample(...request)) },
    startLimit: options.startLimit,
    connecting: () => context.get(),
    secret: context.secret,
    accountAt: context.accountAt,
    closing: work.closing,
    onCatalog: (server, filtered) => registries.put(server, filtered),
    clock,
    now,
    emit,
  });
  const requests = createHostRequests({ ...options, servers, emit, on, clock, now, secrets, work });
  const { decisions, registries } = requests;
  registries.setOrder(servers.all());
  const watching = watch
    ? watchFiles(watchedFiles(first), (file) => emit({ type: "settings_changed", file }), clock)
    : undefined;
  /** Whether all servers have been started, not only some of them. */
  let isStarted = false;

  /**
   * The named server. If `name` is undefined, all servers (without the demo server, if others are configured).
   *
   * @throws HostError `server_unknown`
   */
  function meant(name: string | undefined): readonly Server[] {
    return name === undefined
      ? servers.all().filter((server) => servers.isMeantByAll(server.name))
      : [servers.get(name)];
  }

  /**
   * The registered items of one server, or of all servers.
   *
   * @throws HostError `server_unknown`
   */
  function registered<T extends { readonly serverName: string }>(
    name: string | undefined,
    all: () => readonly T[],
    of: (server: string) => readonly T[],
  ): readonly T[] {
    if (name === undefined) return all().filter((item) => servers.isMeantByAll(item.serverName));
    const server = servers.get(name);
    server.showDemo();
    return server.shared === undefined ? [] : of(name);
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
    await servers.flush();
    const wasTrusted = servers.configuration.trust.trusted;
    servers.setConfiguration(next);
    // The rules must not wait until the servers of a folder that is no longer trusted have ended.
    if (wasTrusted !== next.trust.trusted) await decisions.renew();
    onDecisions();
    const updating = servers.update();
    registries.setOrder(servers.all());
    const changes = await updating;
    // A request may have started a replaced server already. What it lists stays.
    for (const name of [...changes.replaced, ...changes.removed])
      if (servers.find(name)?.catalog === undefined) registries.remove(name);
    await Promise.all([servers.recall(), decisions.renew()]);
    return changes;
  }

  /** Starts the servers again that were used before a reload, and servers that the reload has added. */
  async function startAgain(wasUsed: readonly string[], how: { readonly all: boolean }): Promise<void> {
    await Promise.all([
      how.all ? servers.start() : undefined,
      servers.start(wasUsed.filter((name) => servers.find(name) !== undefined)),
    ]);
  }

  const usedServers = (): readonly string[] =>
    servers.states().flatMap(({ name, ...state }) => (isIdle(state) ? [] : [name]));

  /** Applies what the IDE reports now. A trust that has ended is applied even if the settings cannot be read. */
  async function followIde(reload: () => Promise<Configuration>): Promise<void> {
    const before = servers.configuration;
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
    watching?.close();
    const ended = work.close();
    await Promise.all([ended, servers.close(), ide?.close()]);
    await requests.close();
    await servers.flush();
    await context.close();
  });

  return {
    on: withCheckedListeners(on),
    toolRegistry: registries.tools,
    promptRegistry: registries.prompts,
    resourceRegistry: registries.resources,
    states: () => servers.states(),
    getDiscoveryState: () => servers.discoveryState,
    tools: (server) =>
      toHostTools(
        registered(
          server,
          () => registries.tools.getAllTools(),
          (name) => registries.tools.getToolsByServer(name),
        ),
        decisions.decisionOf,
      ),
    prompts: (server) =>
      toHostPrompts(
        registered(
          server,
          () => registries.prompts.getAllPrompts(),
          (name) => registries.prompts.getPromptsByServer(name),
        ),
      ),
    resources: (server) =>
      toHostResources(
        registered(
          server,
          () => registries.resources.getAllResources(),
          (name) => registries.resources.getResourcesByServer(name),
        ),
        registered(
          server,
          () => registries.resources.getAllTemplates(),
          (name) => registries.resources.getTemplatesByServer(name),
        ),
      ),
    quarantined: (server) => {
      const names = new Set(meant(server).map(({ name }) => name));
      return [
        ...registries.tools.quarantined().filter((tool) => names.has(tool.server)),
        ...droppedTools(meant(server)),
      ];
    },
    hidden: (server) => hiddenTools(meant(server)),
    notes: (server) => {
      const names = new Set(meant(server).map(({ name }) => name));
      return [...meant(server).flatMap(catalogNotes), ...decisions.notes().filter((note) => names.has(note.server))];
    },
    catalog(name) {
      const server = servers.get(name);
      return server.shared && server.catalog?.catalog;
    },
    failedStarts: () => work.run(() => servers.failedStarts()),
    recall: (names) => work.run(() => servers.recall(names)),

    start: ({ servers: names, signal } = {}) =>
      work.run(() => {
        isStarted ||= names === undefined;
        const started = servers.start(names);
        // The start counts as a use of each server. Without a request within the idle time, the server is stopped.
        if (options.lazy) for (const name of names ?? []) servers.find(name)?.use()();
        const why = (): HostError => new HostError("cancelled", "waiting for the servers was cancelled");
        return unlessAborted(started, signal, why);
      }),

    restart: (names) =>
      work.run(async () => {
        const wasUsed = usedServers();
        const changes = await takeOver(await load?.());
        if (names !== undefined) return servers.restart(names);
        if (changes === undefined) return servers.restart(wasUsed);
        // A connected server with an unchanged definition keeps running.
        await startAgain(wasUsed, { all: true });
      }),

    stop: (names) => servers.stop(names),

    reload: (next) =>
      work.run(async () => {
        const changes = await takeOver(next ?? (await load?.()));
        if (changes !== undefined) return changes;
        throw cannotReload();
      }),

    approve: (names) =>
      work.run(async () => {
        if (load === undefined) throw cannotReload();
        const approved = await approveWaiting(servers.configuration, names, new Date(now()));
        if (approved.length > 0) await takeOver(await load());
        return approved;
      }),

    refresh: (server, { signal: given } = {}) =>
      work.run(async (signal) => {
        const connection = await servers.get(server).ready(signal);
        await connection.discover(signal);
      }, given),

    problems: () => servers.configuration.problems,

    call: (server, tool, args = {}, callOptions = {}) => requests.call(server, tool, args, callOptions),
    callAsModel: requests.callAsModel,
    readResource: requests.readResource,
    getPrompt: requests.getPrompt,
    complete: requests.complete,
    subscribe: (server, uri, given = {}) => requests.subscribe(server, uri, given),
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
    flushHistory: requests.flushHistory,
    gateway: {
      servers,
      forward: requests.forward,
      subscribe: requests.subscribe,
      sampleThrough: requests.sampleThrough,
      deniedTo: decisions.deniedTo,
      identify: decisions.identify,
      toolsWithin: requests.toolsWithin,
      clientProfile: (name) => servers.configuration.settings.host.clients.get(name),
    },

    [Symbol.asyncDispose]: dispose,
  };
}

/** The settings files, the trusted-folders file and the approvals file. */
function watchedFiles({ settings, locations }: Configuration): readonly string[] {
  const files = settings.files.flatMap(({ file }) => (file === optionOrigin ? [] : [file]));
  return [...files, locations.trustedFolders, approvalsPath(locations.state)];
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
