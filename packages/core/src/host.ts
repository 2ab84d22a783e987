/** One host: settings become definitions, definitions are admitted, admitted servers are connected, discovered and called. */

import { systemClock } from "./clock.ts";
import { HostError } from "./errors.ts";
import { createEmitter, type ServerChanges } from "./events.ts";
import { approveWaiting } from "./host/approve.ts";
import { createCallAsModel } from "./host/call-as-model.ts";
import { createCallableTool } from "./host/callable.ts";
import { createHostCalls } from "./host/calls.ts";
import { toConfigurationOptions } from "./host/configuration-options.ts";
import { createHostContext } from "./host/context.ts";
import { createConversations } from "./host/conversations.ts";
import { createGate } from "./host/gate.ts";
import { createIdleStop } from "./host/idle.ts";
import { keepKnowledge } from "./host/knowledge.ts";
import { createHostLedger } from "./host/ledger.ts";
import { createChangeMarks } from "./host/marks.ts";
import { createHostMemory } from "./host/memory.ts";
import { toHostPrompts, toHostResources, toHostTools } from "./host/offer.ts";
import { once } from "./host/once.ts";
import { checkHostOptions } from "./host/options.ts";
import { createHostPolicy } from "./host/policy.ts";
import { createReading } from "./host/reading.ts";
import { isResting } from "./host/resting.ts";
import { demoName, toHostServers } from "./host/servers.ts";
import { createShelf, type ShelvedServer } from "./host/shelf.ts";
import type { Host, HostOptions, OpenHostOptions } from "./host/types.ts";
import { type FileWatch, watchFiles } from "./host/watch.ts";
import type { McpClient } from "./mcp/client.ts";
import { McpClientManager } from "./mcp/client-manager.ts";
import type { Offering } from "./mcp/offering.ts";
import { unlessAborted } from "./mcp/unless-aborted.ts";
import { defaults } from "./settings/defaults.ts";
import { optionOrigin } from "./settings/definition.ts";
import { type Configuration, loadConfiguration } from "./trust/configuration.ts";

export type { Progress } from "@fairlead/wire";
export type { HostPrompt, HostResource, HostTool } from "./host/offer.ts";
export { demoName } from "./host/servers.ts";
export type * from "./host/types.ts";

/** What is known from earlier runs is there at once; servers are reached by `start`, or by the first call into them. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  checkHostOptions(options);
  const from = toConfigurationOptions(options);
  const load = (): Promise<Configuration> => loadConfiguration(from);
  const host = openHost(await load(), { recover: true, ...options, load });
  await Promise.all([host.recall(), host.policy()]);
  return host;
}

/** A host for a configuration that is loaded already. Once it is closed, no process of it is left. */
export function openHost(configuration: Configuration, options: OpenHostOptions & Reloading = {}): Host {
  const { clock = systemClock, recover = false, idleStop, confirm, load } = options;
  const { startLimit, today = Date.now, approvalMode: mode = "default", interactive = true, allow, sample } = options;
  const { on, emit } = createEmitter();
  const closing = new AbortController();
  const context = createHostContext(configuration, options);
  const { state } = configuration.locations;
  const memory = createHostMemory({
    state,
    secret: async (name) => (await context.get()).secret(name),
    accountAt: context.accountAt,
    today,
  });
  const marks = createChangeMarks(() => policy.lock);
  const knowledge = keepKnowledge({
    memory,
    marks,
    shelf: () => shelf,
    client: (server) => manager.getClient(server),
    definition: (server) => servers.definitions.get(server),
    shelved,
    emit,
    today,
  });
  let current = configuration;
  let servers = serversOf(configuration);

  const policy = createHostPolicy({
    configuration: () => current,
    definition: (server) => servers.definitions.get(server),
    catalog: (server) => shelf.offering(server)?.catalog,
    marks,
    remember: knowledge.remember,
    mode,
    interactive,
    flags: allow ? { allow } : {},
    today,
  });
  const ledger = createHostLedger({
    state,
    keepArguments: () => current.settings.host.audit.arguments,
    mode,
    today,
    emit,
  });
  const gate = createGate({ consent: policy.consent, confirm, record: ledger.record, clock });
  const calls = createHostCalls({
    settings: () => current.settings.host,
    gate,
    marks,
    accept: policy.accept,
    ready: (server, signal) => ready(server, signal),
    use: (server) => idle.use(server),
    timeoutOf,
    trustsAnnotations: (server) => servers.definitions.get(server)?.extras.trustAnnotations ?? false,
    state,
    clock,
  });
  const reading = createReading({
    gate,
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
    today,
    ...(startLimit !== undefined && { startLimit }),
  });
  const idle = createIdleStop({
    ...(idleStop !== undefined && { milliseconds: idleStop }),
    isLazy: (server) => recover && servers.definitions.get(server)?.extras.start === "lazy",
    stop: (server) => void manager.stop(server),
    clock,
  });
  const conversations = createConversations({
    ...options,
    settings: () => current.settings.host,
    servers: () => servers.order.filter(isMeantByAll),
    shelf,
    manager,
    calls,
    reading,
    policy,
    knowledge,
    clock,
    closing: closing.signal,
  });
  const watching = options.watch === true ? watchSettings() : undefined;

  function serversOf(from: Configuration): ReturnType<typeof toHostServers> {
    return toHostServers(from, {
      ...options,
      ...(sample && { sample: (request, signal) => gate.sample(sample, request, signal) }),
      context: () => context.get(),
      memory,
      ...knowledge,
      clock,
    });
  }

  function watchSettings(): FileWatch {
    const files = configuration.settings.files.flatMap(({ file }) => (file === optionOrigin ? [] : [file]));
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

  function isMeantByAll(server: string): boolean {
    return servers.isAlone || !servers.hasDemo || server !== demoName;
  }

  /** Those of one server, or of all. */
  function only<T extends { readonly server: string }>(items: readonly T[], server: string | undefined): readonly T[] {
    if (server === undefined) return items.filter((item) => isMeantByAll(item.server));
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
    await Promise.all([knowledge.recall(servers.order), policy.renew()]);
    return changes;
  }

  /** Who began before the host was closed is cancelled; who comes after has been told that it is closed. */
  async function ready(server: string, signal: AbortSignal | undefined): Promise<McpClient> {
    closing.signal.throwIfAborted();
    return manager.ready(server, signal);
  }

  async function close(): Promise<void> {
    closing.abort(new HostError("cancelled", "the host was closed"));
    idle.close();
    watching?.close();
    await Promise.all([calls.close(), reading.close(), manager.stop()]);
    await Promise.all([knowledge.saved(), ledger.close()]);
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
    tools: (server) => only(toHostTools(shelf.tools.getAllTools(), policy.decision), server),
    prompts: (server) => only(toHostPrompts(shelf.prompts.getAllPrompts()), server),
    resources: (server) => only(toHostResources(shelf.resources), server),
    quarantined: (server) => only(shelf.quarantined(), server),
    hidden: (server) => only(shelf.hidden(), server),
    notes: (server) => only([...shelf.notes(), ...policy.notes()], server),
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

    stop: (names) => manager.stop(names),

    async reload(next) {
      throwIfClosed();
      const changes = await takeOver(next ?? (await load?.()));
      if (changes !== undefined) return changes;
      throw cannotReload();
    },

    async approve(names) {
      throwIfClosed();
      if (load === undefined) throw cannotReload();
      const approved = await approveWaiting(current, names, new Date(today()));
      if (approved.length > 0) await takeOver(await load());
      return approved;
    },

    problems: () => current.problems,

    async call(server, tool, args = {}, callOptions = {}) {
      throwIfClosed();
      return calls.call(server, tool, args, callOptions);
    },

    readResource: reading.readResource,
    getPrompt: reading.getPrompt,
    complete: reading.complete,
    subscribe: reading.subscribe,
    expandReferences: reading.expandReferences,

    policy: policy.policies,
    decide: async (...request) => (await policy.explain(...request)).verdict,
    explain: policy.explain,
    changeOf: policy.changeOf,

    ...conversations,
    callAsModel: createCallAsModel({ registry: shelf.tools, confirm, closing: closing.signal }),
    asCallableTool: () =>
      createCallableTool({ open: () => shelf.tools.openConversation(), confirm, signal: closing.signal }),

    [Symbol.asyncDispose]: closed,
  };
  return host;
}

function cannotReload(): HostError {
  return new HostError("usage", "this host was opened with settings of its own: it cannot read them again");
}

interface Reloading {
  /** Reads the settings once more. */
  readonly load?: () => Promise<Configuration>;
}
