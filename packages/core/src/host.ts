/**
 * Opens a host: loads settings, connects the servers that are allowed to start, reads their catalogs and runs requests
 * to them.
 */

import { HostError } from "./errors.ts";
import { aString, expectArguments } from "./expect-arguments.ts";
import { createCallableTool } from "./host/callable-tool.ts";
import { flagsOfServers } from "./host/flags.ts";
import { toHostPrompts, toHostResources, toHostSkills, toHostTools, toOneHostSkill } from "./host/listings.ts";
import {
  checkCallAsModelOptions,
  checkHostOptions,
  toConfigurationOptions,
  withCheckedListeners,
} from "./host/options.ts";
import { catalogNotes, droppedTools, hiddenTools } from "./host/registries.ts";
import { RunningHost, type RunningHostOptions } from "./host/running-host.ts";
import type { GatewayHost, Host, HostOptions, OpenedHost } from "./host/types.ts";
import { createIdeTrust } from "./ide/ide-trust.ts";
import { confirmThrough } from "./policy/confirmation.ts";
import { checkRequest, userCalls } from "./request/calls.ts";
import { forward } from "./request/forward.ts";
import { expandReferences, getPromptForUser, readForUser } from "./request/reads.ts";
import { samplingRequest, shownRead } from "./request/request.ts";
import { ask, runRequest } from "./request/run.ts";
import { findSkill, readSkillForUser } from "./request/skills.ts";
import { openRelayTo } from "./server/opener.ts";
import type { Server } from "./server/server.ts";
import { closest } from "./text/closest.ts";
import { approve } from "./trust/approvals.ts";
import { type AdmittedServer, type Configuration, loadConfiguration } from "./trust/configuration.ts";
import { refuseNested } from "./trust/own-entry.ts";
import { unlessAborted } from "./unless-aborted.ts";

export type { Progress } from "@fairlead/wire";
export { demoName } from "./demo/name.ts";
export type { ServerFlag } from "./host/flags.ts";
export type { HostPrompt, HostResource, HostSkill, HostTool } from "./host/listings.ts";
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
  const ide = createIdeTrust({ environment: from.environment, clock: options.clock });
  const first = await loadConfiguration({ ...from, ide }).catch(async (error: unknown) => {
    await ide.close();
    throw error;
  });
  const host = openHost(first, { recover: true, ...options, from, ide });
  await Promise.all([host.recall(), host.policy()]);
  return host;
}

/** Opens a host with a loaded configuration. After `dispose`, the host neither runs nor writes anything. */
export function openHost(first: Configuration, options: RunningHostOptions = {}): OpenedHost {
  if (options.declare !== undefined) refuseNested(first.environment.env);
  const host = new RunningHost(first, options);
  const { servers, registries, policy, ledger, conversations, work } = host;
  const { closing } = work;

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

  const call = userCalls(host);

  const subscribe: GatewayHost["subscribe"] = (serverName, uri, { signal, client, connection, confirm }) =>
    runRequest(
      {
        who: client === undefined ? "user" : "client",
        client: client?.name,
        conversation: client?.conversation,
        kind: "resource",
        serverName,
        serverToolName: uri,
        shown: shownRead(serverName, uri),
        connection,
        signal,
        confirm,
        target: {
          kind: "direct",
          send: async (until) => (await host.subscriptions()).subscribe(serverName, uri, until, connection),
        },
      },
      host,
    );

  return {
    on: withCheckedListeners(host.events.on),
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
        policy.decisionOf,
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
    skills: (server) => meant(server).flatMap(toHostSkills),
    async findSkill(server, skill, given = {}) {
      checkRequest("findSkill()", server, "skill", skill, given);
      return toOneHostSkill(servers.get(server), await findSkill({ server, skill }, { who: "user", ...given }, host));
    },
    async readSkill(server, skill, given = {}) {
      checkRequest("readSkill()", server, "skill", skill, given);
      return readSkillForUser(server, skill, given, host);
    },
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
      return [...meant(server).flatMap(catalogNotes), ...policy.notes().filter((note) => names.has(note.server))];
    },
    flags: (server) => flagsOfServers(meant(server), servers),
    catalog(name) {
      const server = servers.get(name);
      return server.shared && server.catalog?.catalog;
    },
    failedStarts: () => work.run(() => servers.failedStarts()),
    recall: (names) => work.run(() => servers.recall(names)),

    start: ({ servers: names, signal } = {}) =>
      work.run(() => {
        const why = (): HostError => new HostError("cancelled", "waiting for the servers was cancelled");
        return unlessAborted(host.start(names), signal, why);
      }),

    restart: (names) => work.run(() => host.restart(names)),

    stop: (names) => servers.stop(names),

    reload: (next) =>
      work.run(async () => {
        const changes = await (next === undefined ? host.reload() : host.takeOver(next));
        if (changes !== undefined) return changes;
        throw cannotReload();
      }),

    approve: (names) =>
      work.run(async () => {
        if (options.from === undefined) throw cannotReload();
        const approved = await approveWaiting(servers.configuration, names, new Date(host.now()));
        if (approved.length > 0) await host.reload();
        return approved;
      }),

    refresh: (server, { signal: given } = {}) =>
      work.run(async (signal) => {
        const connection = await servers.get(server).ready(signal);
        await connection.discover(signal);
      }, given),

    problems: () => servers.configuration.problems,

    call,
    async readResource(server, uri, given = {}) {
      checkRequest("readResource()", server, "uri", uri, given);
      return readForUser(server, uri, given, host);
    },
    async getPrompt(server, prompt, args = {}, given = {}) {
      checkRequest("getPrompt()", server, "prompt", prompt, given);
      return getPromptForUser(server, prompt, args, given, host);
    },
    subscribe: (server, uri, given = {}) => subscribe(server, uri, given),
    expandReferences: (text, given = {}) => expandReferences(text, given, host, host.keep),

    async callAsModel(name, args = {}, given = {}) {
      expectArguments("callAsModel()", { name: [name, aString] });
      checkCallAsModelOptions(given);
      work.refuseIfClosed();
      const { signal, confirm = options.confirm } = given;
      const tool = registries.tools.getTool(name);
      if (tool !== undefined)
        return tool.execute(args, signal, { confirm: confirmThrough(confirm, signal ?? closing, true) });
      const { explainUnknown } = await import("./turn/failure-messages.ts");
      const toolNames = registries.tools
        .getAllTools()
        .map(({ name: each, serverName: server, serverToolName }) => ({ name: each, server, serverToolName }));
      throw new HostError("tool_unknown", explainUnknown(name, undefined, toolNames));
    },

    complete: (request, { signal: given } = {}) =>
      work.run(async (signal) => {
        const { completeArgument } = await import("./resources/completion.ts");
        const { of } = request;
        const server = servers.get(of.server);
        const subject =
          of.kind === "prompt"
            ? { kind: of.kind, serverToolName: of.prompt }
            : { kind: "resource" as const, serverToolName: of.uriTemplate };
        // The suggested values may reveal data.
        const { decision } = (await host.rules()).decide({ who: "user", serverName: of.server, ...subject });
        if (decision === "deny") return [];
        const release = server.use();
        return completeArgument(request, { server, signal }).finally(release);
      }, given),

    policy: policy.policies,
    decide: async (...request) => (await policy.explain(...request)).decision,
    explain: policy.explain,
    changeOf: policy.changeOf,

    conversation: conversations.conversation,
    conversations: conversations.conversations,
    runTurn: conversations.runTurn,
    toolOffers: conversations.toolOffers,
    hideSecrets: async (text) => (await host.secrets.redactor())(text),
    asCallableTool: () => createCallableTool(host),
    searchTools: (...wanted) => work.run(() => host.search.searchTools(...wanted)),

    relay: (name, client, { signal: given } = {}) =>
      work.run(async (signal) => {
        const { relayClient } = await import("./request/relay.ts");
        const server = servers.get(name);
        return relayClient(name, client, {
          relay: (how) => openRelayTo(server, servers.context, how),
          mayHaveRoots: () => server.mayHaveRoots,
          run: (request) => runRequest(request, host),
          ask: (request) => ask(request, host),
          signal,
        });
      }, given),

    flushHistory: () => ledger.flush(),
    get configuration() {
      return servers.configuration;
    },
    changeSettings: (change) => host.changeSettings(change),
    messages: host.messages,
    requests: host.requests,
    telemetry: host.telemetry,
    hide: host.secrets.hide,
    accept: (server, name, digest, kind = "tool") => work.run(() => host.accept(server, name, digest, kind)),
    allowHost: (server, name, fingerprint) => work.run(() => host.allowHost(server, name, fingerprint)),
    issuesIn: host.issuesIn,
    person: host.person,
    gateway: {
      servers,
      forward: (request, given = {}) => forward(request, given, host),
      call,
      subscribe,
      sampleThrough: (serverName, params, send, { signal, confirm, client } = {}) =>
        runRequest(
          {
            ...samplingRequest(serverName, params),
            client: client?.name,
            conversation: client?.conversation,
            signal,
            confirm,
            target: { kind: "direct", send },
          },
          host,
        ),
      deniedTo: policy.deniedTo,
      identify: policy.identify,
      toolsWithin: (tools, budget) =>
        work.run(async () => {
          const { toolsWithin } = await import("./host/tools-within.ts");
          const isAlwaysLoaded = (server: string): boolean =>
            servers.find(server)?.definition?.extras.alwaysLoad ?? false;
          return toolsWithin(tools, budget, { isAlwaysLoaded, used: await ledger.usedTools() });
        }),
      clientProfile: (name) => servers.configuration.settings.host.clients.get(name),
    },

    [Symbol.asyncDispose]: host.close,
  };
}

function cannotReload(): HostError {
  return new HostError("usage", "this host cannot reload its settings: it was opened with a configuration object");
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
