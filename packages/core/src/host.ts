/** One host: settings become definitions, definitions are admitted, admitted servers are connected, discovered and called. */

import { systemClock } from "./clock.ts";
import { HostError } from "./errors.ts";
import { createEmitter, type ServerChanges } from "./events.ts";
import { approveWaiting } from "./host/approve.ts";
import { createCatalogs } from "./host/catalogs/catalogs.ts";
import { toHostPrompts, toHostResources, toHostTools } from "./host/catalogs/listings.ts";
import { toConfigurationOptions } from "./host/configuration-options.ts";
import { once } from "./host/once.ts";
import { createOpenWork } from "./host/open-work.ts";
import { checkHostOptions } from "./host/options.ts";
import { createHostRequests, type HostRequests } from "./host/requests/requests.ts";
import { createConnectContext } from "./host/servers/connect-context.ts";
import { isIdle } from "./host/servers/is-idle.ts";
import { createLiveConfiguration } from "./host/servers/live-configuration.ts";
import { createHostServers } from "./host/servers/servers.ts";
import type { Host, HostOptions, OpenHostOptions } from "./host/types.ts";
import { unlessAborted } from "./mcp/unless-aborted.ts";
import { type Configuration, loadConfiguration } from "./trust/configuration.ts";

export type { Progress } from "@fairlead/wire";
export { demoName } from "./demo/name.ts";
export type { HostPrompt, HostResource, HostTool } from "./host/catalogs/listings.ts";
export type * from "./host/types.ts";

/** Cached catalogs are there at once; servers are reached by `start`, or by the first call into them. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  checkHostOptions(options);
  const from = toConfigurationOptions(options);
  const load = (): Promise<Configuration> => loadConfiguration(from);
  const host = openHost(await load(), { recover: true, ...options, load });
  await Promise.all([host.recall(), host.policy()]);
  return host;
}

/**
 * A host for a configuration that is loaded already, in three groups: catalogs hold what servers list, servers connect
 * to them, requests run through one path. After dispose nothing of the host runs or writes.
 */
export function openHost(first: Configuration, options: OpenHostOptions & Reloading = {}): Host {
  const { clock = systemClock, today = Date.now, load } = options;
  const { on, emit } = createEmitter();
  const work = createOpenWork();
  const configuration = createLiveConfiguration(first);
  const context = createConnectContext(configuration, options);
  const shared = { ...options, configuration, emit, on, clock, today };

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
    tools: requests.binding,
    getPrompt: (server, name, values, signal) => requests.getPrompt(server, name, values, signal ? { signal } : {}),
  });
  const { manager } = servers;
  const { decisions } = requests;

  /** Those of one server, or of all. @throws HostError `server_unknown` */
  function only<T extends { readonly server: string }>(items: readonly T[], server: string | undefined): readonly T[] {
    if (server === undefined) return items.filter((item) => configuration.isMeantByAll(item.server));
    const client = manager.getClient(server);
    return items.filter((item) => item.server === client?.name);
  }

  /** Settings that cannot be read, perhaps because an editor is writing them, change nothing. */
  async function takeOver(next: Configuration | undefined): Promise<ServerChanges | undefined> {
    if (next === undefined) return undefined;
    const broken = next.settings.files.find((file) => file.state === "broken");
    if (broken) throw new HostError("settings_invalid", `${broken.file} cannot be read: nothing was changed`);
    configuration.replace(next);
    catalogs.reorder();
    const changes = await servers.update();
    await Promise.all([catalogs.recall(configuration.order()), decisions.renew()]);
    return changes;
  }

  const dispose = once(async () => {
    const ended = work.close();
    await Promise.all([ended, servers.close()]);
    await requests.close();
    await catalogs.saved();
    await context.close();
  });

  return {
    on,
    toolRegistry: catalogs.tools,
    promptRegistry: catalogs.prompts,
    resourceRegistry: catalogs.resources,
    states: () => manager.states(),
    getDiscoveryState: () => manager.getDiscoveryState(),
    tools: (server) => only(toHostTools(catalogs.tools.getAllTools(), decisions.decisionOf), server),
    prompts: (server) => only(toHostPrompts(catalogs.prompts.getAllPrompts()), server),
    resources: (server) => only(toHostResources(catalogs.resources), server),
    quarantined: (server) => only(catalogs.quarantined(), server),
    hidden: (server) => only(catalogs.hidden(), server),
    notes: (server) => only([...catalogs.notes(), ...decisions.notes()], server),
    catalog: (server) => manager.getClient(server) && catalogs.catalog(server),
    recall: (names = configuration.order()) => work.run(() => catalogs.recall(names)),

    start: ({ servers: names, signal } = {}) =>
      work.run(() => {
        const started = names === undefined ? manager.discoverAllMcpTools() : manager.start(names);
        const why = (): HostError => new HostError("cancelled", "the servers were not waited for: cancelled");
        return unlessAborted(started, signal, why);
      }),

    restart: (names) =>
      work.run(async () => {
        const wasUsed = manager.states().flatMap(({ name, ...state }) => (isIdle(state) ? [] : [name]));
        const changes = await takeOver(await load?.());
        if (names !== undefined) return manager.restart(names);
        // Servers that are connected and have the same definition as before are left alone.
        const there = new Set(configuration.order());
        const lost = wasUsed.filter((name) => there.has(name));
        if (changes === undefined) return manager.restart(lost);
        await Promise.all([manager.discoverAllMcpTools(), manager.start(lost)]);
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
        const approved = await approveWaiting(configuration.current(), names, new Date(today()));
        if (approved.length > 0) await takeOver(await load());
        return approved;
      }),

    problems: () => configuration.current().problems,

    call: async (server, tool, args = {}, callOptions = {}) => requests.call(server, tool, args, callOptions),
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
    runTurn: requests.runTurn,
    asCallableTool: requests.asCallableTool,

    [Symbol.asyncDispose]: dispose,
  };
}

function cannotReload(): HostError {
  return new HostError("usage", "this host was opened with settings of its own: it cannot read them again");
}

interface Reloading {
  /** Reads the settings once more. */
  readonly load?: () => Promise<Configuration>;
}
