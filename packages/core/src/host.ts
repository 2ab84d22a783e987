/** One host: settings become definitions, definitions are admitted, admitted servers are connected, discovered and called. */

import { homedir } from "node:os";
import type { Progress } from "@fairlead/wire";
import { type Clock, systemClock } from "./clock.ts";
import type { ConnectStep } from "./connect/connect-step.ts";
import { patienceFor } from "./connect/patience.ts";
import type { Catalog, ListStep } from "./discover/catalog.ts";
import { HostError } from "./errors.ts";
import { createEmitter, type Emitter, type MCPDiscoveryState, type ServerState } from "./events.ts";
import { type CallResult, callTool } from "./execute/call-tool.ts";
import { createHostContext } from "./host-context.ts";
import {
  type HostPrompt,
  type HostResource,
  type HostTool,
  type Offered,
  toHostPrompts,
  toHostResources,
  toHostTools,
} from "./host-offer.ts";
import { McpClient, type McpClientOptions } from "./mcp/client.ts";
import { type ManagedServer, McpClientManager } from "./mcp/client-manager.ts";
import { initialState } from "./mcp/server-state.ts";
import { unlessAborted } from "./mcp/unless-aborted.ts";
import { closedBy } from "./policy/permissions.ts";
import { defaults } from "./settings/defaults.ts";
import type { Environment } from "./settings/paths.ts";
import { admitBuiltIn } from "./trust/admit.ts";
import {
  type AdmittedServer,
  type Configuration,
  type ConfigurationOptions,
  loadConfiguration,
} from "./trust/configuration.ts";

export type { Progress } from "@fairlead/wire";
export type { HostPrompt, HostResource, HostTool } from "./host-offer.ts";

export interface HostOptions extends OpenHostOptions {
  /** The user's settings file; by default the one that Gemini CLI reads. */
  readonly settings?: string;
  /** The workspace root; by default it is found from the current folder. `false` leaves the workspace out. */
  readonly workspace?: string | false;
  /** The embedding program's verdict on the workspace; without one, the trusted-folders file decides. */
  readonly trust?: boolean;
  /** By default that of the process. */
  readonly environment?: Environment;
}

export interface OpenHostOptions {
  readonly clock?: Clock;
  /** Messages go into the servers' log files: those of all servers, or of the one with this name. */
  readonly debug?: boolean | string;
  /** How many programs may be starting at once. */
  readonly startLimit?: number;
  /** Told, step by step, how a server is connected and what it lists. */
  readonly observe?: (server: string, step: ConnectStep | ListStep) => void;
}

export interface StartOptions {
  /** These, even if their settings let them wait for their first use; by default all that do not wait. */
  readonly servers?: readonly string[];
  /** Ends the waiting with `cancelled`; what has begun goes on until the host is closed. */
  readonly signal?: AbortSignal;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The longest silence in milliseconds, instead of the server's own setting; progress restarts it. */
  readonly timeout?: number;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Host extends AsyncDisposable {
  /** Connects to servers that may start, and reads what they offer. Resolves when each has answered or failed; its state says which. */
  start(options?: StartOptions): Promise<void>;
  /** What is known so far, of one server or of all; the demo server counts among all only while nothing else is configured. */
  tools(server?: string): readonly HostTool[];
  prompts(server?: string): readonly HostPrompt[];
  resources(server?: string): readonly HostResource[];
  /** Everything that a connected server offers, and what of it could not be used. */
  catalog(server: string): Catalog | undefined;
  /** Connects to that server first, if need be, and to no other. */
  call(server: string, tool: string, args?: unknown, options?: CallOptions): Promise<CallResult>;
  /** In the order of the settings, the demo server last. */
  states(): readonly ServerState[];
  getDiscoveryState(): MCPDiscoveryState;
  readonly on: Emitter["on"];
}

export const demoName = "demo";

export async function createHost(options: HostOptions = {}): Promise<Host> {
  return openHost(await loadConfiguration(toConfigurationOptions(options)), options);
}

/** A host for a configuration that is loaded already. Once it is closed, no process of it is left. */
export function openHost(configuration: Configuration, options: OpenHostOptions = {}): Host {
  const { clock = systemClock, debug = false, startLimit, observe } = options;
  const { connectTimeout, limits, permissions } = configuration.settings.host;
  const { on, emit } = createEmitter();
  const context = createHostContext(configuration, debug);
  const configured = configuration.servers.filter((entry) => !isPlantedDemo(entry));
  const timeouts = new Map(configured.map(({ server }) => [server.name, server.definition?.timeout]));

  function createClient(how: Pick<McpClientOptions, "definition" | "open" | "connectTimeout">): McpClient {
    const server = how.definition.name;
    return new McpClient({
      ...how,
      clock,
      observe: (step) => observe?.(server, step),
      onState: (state) => emit({ type: "state", state }),
      onNotification(method) {
        const list = changedList(method);
        if (list !== undefined) emit({ type: "list_changed", server, list });
      },
    });
  }

  function toManaged({ server, admission }: AdmittedServer): ManagedServer {
    const { name, definition } = server;
    if (admission.status !== "admitted" || definition === undefined)
      return { state: initialState(name, admission, clock.now()) };
    const client = createClient({
      definition,
      connectTimeout: patienceFor(definition, definition.resolved ?? definition.transport, connectTimeout).milliseconds,
      async open(opening) {
        const { openSession } = await import("./connect/open-session.ts");
        const watch = observe && { observe: (step: ConnectStep) => observe(name, step) };
        return openSession(definition, await context.get(), { ...opening, ...watch });
      },
    });
    return { client, isLazy: definition.extras.start === "lazy", isProgram: definition.transport.kind === "stdio" };
  }

  const servers = configured.map(toManaged);
  const isAlone = servers.length === 0;
  const hasDemo = !timeouts.has(demoName);
  const demoAdmission = admitBuiltIn(demoName, configuration.settings);
  if (hasDemo && demoAdmission.status !== "admitted") {
    servers.push({ state: initialState(demoName, demoAdmission, clock.now()) });
  } else if (hasDemo) {
    const open: McpClientOptions["open"] = async () => {
      const { createDemoSession } = await import("./demo/session.ts");
      return createDemoSession({ clock });
    };
    const client = createClient({ definition: { name: demoName, excludeTools: [] }, connectTimeout, open });
    servers.push({ client, isLazy: !isAlone });
  }
  const manager = new McpClientManager({ servers, emit, clock, ...(startLimit !== undefined && { startLimit }) });
  let closing: Promise<void> | undefined;

  function offered(): readonly Offered[] {
    return manager
      .clients()
      .flatMap(({ name, offering }) => (offering ? [{ server: name, catalog: offering.catalog }] : []));
  }

  /** Those of one server, or of all that are meant by "all". */
  function only<T extends { readonly server: string }>(items: readonly T[], server: string | undefined): readonly T[] {
    if (server === undefined) return items.filter((item) => isAlone || !hasDemo || item.server !== demoName);
    const client = manager.getClient(server);
    return items.filter((item) => item.server === client?.name);
  }

  function throwIfClosed(): void {
    if (closing) throw new HostError("usage", "this host has been closed");
  }

  async function close(): Promise<void> {
    await manager.stop();
    await context.close();
  }

  return {
    on,
    states: () => manager.states(),
    getDiscoveryState: () => manager.getDiscoveryState(),
    tools: (server) => only(toHostTools(offered(), { humble: hasDemo ? demoName : undefined, permissions }), server),
    prompts: (server) => only(toHostPrompts(offered()), server),
    resources: (server) => only(toHostResources(offered()), server),
    catalog: (server) => manager.getClient(server)?.offering?.catalog,

    async start({ servers: names, signal } = {}) {
      throwIfClosed();
      const started = names === undefined ? manager.discoverAllMcpTools() : manager.start(names);
      await unlessAborted(
        started,
        signal,
        () => new HostError("cancelled", "the servers were not waited for: cancelled"),
      );
    },

    async call(server, tool, args = {}, callOptions = {}) {
      throwIfClosed();
      const setting = closedBy(permissions, server, tool);
      if (setting !== undefined)
        throw new HostError("denied", `${setting} in the settings does not permit ${server}.${tool}`, {
          serverName: server,
          next: `Change ${setting} in the settings.`,
        });
      const client = await manager.ready(server, callOptions.signal);
      const timeout = timeouts.get(server) ?? defaults.timeout;
      return callTool({ client, tool, args }, { timeout, ...callOptions, total: limits.callTotal });
    },

    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

/** A folder that is not trusted must not be able to take the demo server away. */
function isPlantedDemo({ server, admission }: AdmittedServer): boolean {
  return server.name === demoName && admission.status === "blocked" && admission.reason === "untrusted_folder";
}

function changedList(method: string): "tools" | "prompts" | "resources" | undefined {
  switch (method) {
    case "notifications/tools/list_changed":
      return "tools";
    case "notifications/prompts/list_changed":
      return "prompts";
    case "notifications/resources/list_changed":
      return "resources";
  }
  return undefined;
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
