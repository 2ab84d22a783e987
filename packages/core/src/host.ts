/** One host: settings become definitions, definitions are admitted, admitted servers are connected, discovered and called. */

import { homedir } from "node:os";
import { systemClock } from "./clock.ts";
import { HostError } from "./errors.ts";
import { createEmitter, type ServerChanges, type ServerState } from "./events.ts";
import { createCallableTool } from "./host/callable.ts";
import { createHostCalls } from "./host/calls.ts";
import { createHostContext } from "./host/context.ts";
import { createIdleStop } from "./host/idle.ts";
import { keepKnowledge } from "./host/knowledge.ts";
import { createChangeMarks } from "./host/marks.ts";
import { createHostMemory } from "./host/memory.ts";
import { toHostPrompts, toHostResources, toHostTools } from "./host/offer.ts";
import { once } from "./host/once.ts";
import { createReading } from "./host/reading.ts";
import { demoName, toHostServers } from "./host/servers.ts";
import { createShelf, type ShelvedServer } from "./host/shelf.ts";
import type { Host, HostOptions, OpenHostOptions } from "./host/types.ts";
import { type FileWatch, watchFiles } from "./host/watch.ts";
import type { McpClient } from "./mcp/client.ts";
import { McpClientManager } from "./mcp/client-manager.ts";
import type { Offering } from "./mcp/offering.ts";
import { unlessAborted } from "./mcp/unless-aborted.ts";
import { createConsent } from "./policy/consent.ts";
import { defaults } from "./settings/defaults.ts";
import { type Configuration, type ConfigurationOptions, loadConfiguration } from "./trust/configuration.ts";

export type { Progress } from "@fairlead/wire";
export type { HostPrompt, HostResource, HostTool } from "./host/offer.ts";
export { demoName } from "./host/servers.ts";
export type * from "./host/types.ts";

const defaultIdleStop = 300_000;

/** What is known from earlier runs is there at once; servers are reached by `start`, or by the first call into them. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  const load = (): Promise<Configuration> => loadConfiguration(toConfigurationOptions(options));
  const host = openHost(await load(), { recover: true, ...options, load });
  await host.recall();
  return host;
}

/** A host for a configuration that is loaded already. Once it is closed, no process of it is left. */
export function openHost(configuration: Configuration, options: OpenHostOptions & Reloading = {}): Host {
  const { clock = systemClock, debug = false, recover = false, idleStop = defaultIdleStop, confirm, load } = options;
  const { startLimit, today } = options;
  const { on, emit } = createEmitter();
  const closing = new AbortController();
  const context = createHostContext(configuration, debug);
  const { state } = configuration.locations;
  const memory = createHostMemory({
    state,
    secret: async (name) => (await context.get()).secret(name),
    ...(today && { today }),
  });
  const marks = createChangeMarks();
  const knowledge = keepKnowledge({
    memory,
    marks,
    shelf: () => shelf,
    client: (server) => manager.getClient(server),
    definition: (server) => servers.definitions.get(server),
    shelved,
    emit,
    today: today ?? Date.now,
  });
  let current = configuration;
  let servers = serversOf(configuration);

  const consent = createConsent({
    permissions: () => current.settings.host.permissions,
    isTrusted: (server) => isTrusted(server),
    changeOf: marks.changeOf,
    accept: marks.accept,
  });
  const calls = createHostCalls({
    settings: () => current.settings.host,
    consent,
    marks,
    ready: (server, signal) => ready(server, signal),
    use: (server) => idle.use(server),
    timeoutOf,
    trustsAnnotations: (server) => servers.definitions.get(server)?.extras.trustAnnotations ?? false,
    state,
    clock,
  });
  const reading = createReading({
    on,
    emit,
    ready: (server, signal) => ready(server, signal),
    client: (server) => manager.getClient(server),
    use: (server) => idle.use(server),
    timeoutOf,
    total: () => current.settings.host.limits.callTotal,
    resources: () => shelf.resources,
    servers: () => servers.order,
    isKnown: (server) => shelf.offering(server) !== undefined,
    workspace: () => (current.trust.trusted ? current.locations.root : undefined),
    keep: calls.keep,
    clock,
  });
  const shelf = createShelf({
    order: servers.order,
    humble: servers.hasDemo ? [demoName] : [],
    binding: calls.binding,
    getPrompt: (server, name, values, signal) => reading.getPrompt(server, name, values, signal ? { signal } : {}),
  });
  const manager = new McpClientManager({
    servers: servers.managed,
    emit,
    clock,
    recover,
    ...(today && { today }),
    ...(startLimit !== undefined && { startLimit }),
  });
  const idle = createIdleStop({
    milliseconds: idleStop,
    isLazy: (server) => recover && servers.definitions.get(server)?.extras.start === "lazy",
    stop: (server) => void manager.stop(server),
    clock,
  });
  const watching = options.watch === true ? watchSettings() : undefined;

  function serversOf(from: Configuration): ReturnType<typeof toHostServers> {
    return toHostServers(from, {
      ...options,
      context: () => context.get(),
      memory,
      ...knowledge,
      clock,
    });
  }

  function watchSettings(): FileWatch {
    const files = configuration.settings.files.map(({ file }) => file);
    return watchFiles({ files, onChange: (file) => emit({ type: "settings_changed", file }), clock });
  }

  function isTrusted(server: string): boolean {
    return current.trust.trusted && servers.definitions.get(server)?.trust === true;
  }

  function timeoutOf(server: string): number {
    return servers.definitions.get(server)?.timeout ?? defaults.timeout;
  }

  function shelved(name: string): ShelvedServer {
    const { includeTools, excludeTools = [] } = servers.definitions.get(name) ?? {};
    const filter = { excludeTools, ...(includeTools && { includeTools }) };
    return { name, filter, trust: isTrusted(name), timeout: timeoutOf(name) };
  }

  /** Those of one server, or of all that are meant by "all". */
  function only<T extends { readonly server: string }>(items: readonly T[], server: string | undefined): readonly T[] {
    if (server === undefined)
      return items.filter((item) => servers.isAlone || !servers.hasDemo || item.server !== demoName);
    const client = manager.getClient(server);
    return items.filter((item) => item.server === client?.name);
  }

  /** Throws for a server that there is not. */
  function known(server: string): Offering | undefined {
    return manager.getClient(server) && shelf.offering(server);
  }

  function throwIfClosed(): void {
    if (closing.signal.aborted) throw new HostError("usage", "this host has been closed");
  }

  /** Settings that cannot be read, perhaps because somebody is writing them, change nothing. */
  async function takeOver(next: Configuration | undefined): Promise<ServerChanges | undefined> {
    if (next === undefined) return undefined;
    const broken = next.settings.files.find((file) => file.state === "broken");
    if (broken) throw new HostError("settings_invalid", `${broken.file} cannot be read: nothing was changed`);
    current = next;
    servers = serversOf(next);
    const changes = await manager.update(servers.managed);
    for (const name of [...changes.replaced, ...changes.removed]) {
      shelf.remove(name);
      marks.forget(name);
    }
    await knowledge.recall(servers.order);
    return changes;
  }

  async function ready(server: string, signal: AbortSignal | undefined): Promise<McpClient> {
    throwIfClosed();
    return manager.ready(server, signal);
  }

  async function close(): Promise<void> {
    closing.abort(new HostError("cancelled", "the host was closed"));
    idle.close();
    watching?.close();
    await Promise.all([calls.close(), reading.close(), manager.stop()]);
    await knowledge.saved();
    await context.close();
  }
  const closed = once(close);

  const host: Host = {
    on,
    toolRegistry: shelf.tools,
    promptRegistry: shelf.prompts,
    resourceRegistry: shelf.resources,
    states: () => manager.states(),
    getDiscoveryState: () => manager.getDiscoveryState(),
    tools: (server) => only(toHostTools(shelf.tools.getAllTools(), consent.decide), server),
    prompts: (server) => only(toHostPrompts(shelf.prompts.getAllPrompts()), server),
    resources: (server) => only(toHostResources(shelf.resources), server),
    quarantined: (server) => only(shelf.quarantined(), server),
    hidden: (server) => only(shelf.hidden(), server),
    notes: (server) => only(shelf.notes(), server),
    catalog: (server) => known(server)?.catalog,
    recall: (names = servers.order) => knowledge.recall(names),

    async start({ servers: names, signal } = {}) {
      throwIfClosed();
      const started = names === undefined ? manager.discoverAllMcpTools() : manager.start(names);
      const why = (): HostError => new HostError("cancelled", "the servers were not waited for: cancelled");
      await unlessAborted(started, signal, why);
    },

    async restart(names) {
      throwIfClosed();
      const wasUsed = manager.states().flatMap(({ name, ...state }) => (isResting(state) ? [] : [name]));
      const changes = await takeOver(await load?.());
      if (names !== undefined) return manager.restart(names);
      // Who is as before, and connected, is left alone.
      const there = new Set(servers.order);
      const lost = wasUsed.filter((name) => there.has(name));
      if (changes === undefined) return manager.restart(lost);
      await Promise.all([manager.discoverAllMcpTools(), manager.start(lost)]);
    },

    async reload(next) {
      throwIfClosed();
      const changes = await takeOver(next ?? (await load?.()));
      if (changes !== undefined) return changes;
      throw new HostError("usage", "this host was opened with settings of its own: it cannot read them again");
    },

    async call(server, tool, args = {}, callOptions = {}) {
      throwIfClosed();
      return calls.call(server, tool, args, callOptions);
    },

    readResource: reading.readResource,
    getPrompt: reading.getPrompt,
    complete: reading.complete,
    subscribe: reading.subscribe,
    expandReferences: reading.expandReferences,

    asCallableTool: () =>
      createCallableTool({ open: () => shelf.tools.openConversation(), confirm, signal: closing.signal }),

    [Symbol.asyncDispose]: closed,
  };
  return host;
}

/** Nobody has wanted it yet, or somebody decided that it does not start. */
function isResting(state: Omit<ServerState, "name">): boolean {
  if (state.status === "disabled" || state.status === "blocked") return true;
  return state.status === "disconnected" && "reason" in state && state.reason === "lazy";
}

interface Reloading {
  /** Reads the settings once more. */
  readonly load?: () => Promise<Configuration>;
}

function toConfigurationOptions({ settings, workspace, trust, environment }: HostOptions): ConfigurationOptions {
  return {
    environment: environment ?? { env: process.env, home: homedir(), cwd: process.cwd(), platform: process.platform },
    workspace: workspace !== false,
    ...(typeof workspace === "string" ? { root: workspace } : {}),
    ...(settings === undefined ? {} : { settingsFile: settings }),
    ...(trust === undefined ? {} : { embedderTrust: trust }),
  };
}
