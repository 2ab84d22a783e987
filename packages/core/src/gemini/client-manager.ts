/** `McpClientManager`: the clients of several servers, side by side. A server that fails does not affect the others. */

import { HostError } from "../errors.ts";
import type { HostEvent, MCPDiscoveryState, ServerState } from "../events.ts";
import {
  aBoolean,
  aCount,
  aFunction,
  aListOfStrings,
  aName,
  anObject,
  aSignal,
  aString,
  expectArguments,
  optional,
  readMembers,
  type Wanted,
  withMethod,
} from "../expect-arguments.ts";
import { ConnectionGroup } from "../server/connection-group.ts";
import type { MCPServerConfig } from "../settings/define/server-config.ts";
import { closest } from "../text/closest.ts";
import { aConfig, type Config, isTrusted, type WorkspaceContext, workspaceFolder } from "./config.ts";
import { type PromptSink, populateMcpServerCommand } from "./discover.ts";
import { insideOf, McpClient, type ToolSink } from "./mcp-client.ts";
import { checkServerEntries } from "./server-entry.ts";
import { warn } from "./warn.ts";

/** Receives `mcp-client-update`, with the map of clients, for every change. An `EventEmitter` of Node is one. */
export interface ClientUpdateEmitter {
  emit(event: "mcp-client-update", clients: ReadonlyMap<string, McpClient>): unknown;
}

/** A client of a manager, and how the manager treats it. */
export interface ManagedClient {
  readonly client: McpClient;
  /** If true, the server is connected only when a caller names it or uses it. Default: false. */
  readonly isLazy?: boolean;
  /** Whether the server is a stdio program; false by default. */
  readonly isProgram?: boolean;
}

/** Options of `McpClientManager` as one object: clients that the program has created itself. */
export interface McpClientManagerOptions {
  /** The clients, in the order of the program's settings. Names are unique. */
  readonly servers: readonly ManagedClient[];
  readonly emit?: (event: HostEvent) => void;
  /** How many programs may start at the same time; 4 by default. */
  readonly startLimit?: number;
  /** Whether to reconnect servers whose connection ended, and to read changed lists again. Default: false. */
  readonly recover?: boolean;
}

/** What the manager makes its clients from. */
interface Sources {
  readonly entries: Readonly<Record<string, MCPServerConfig>>;
  readonly toolRegistry: ToolSink;
  readonly promptRegistry: PromptSink;
  readonly debugMode: boolean;
  readonly workspaceContext: WorkspaceContext | undefined;
  readonly eventEmitter: ClientUpdateEmitter | undefined;
}

type SourceList = readonly [
  mcpServers: Readonly<Record<string, MCPServerConfig>>,
  mcpServerCommand: string | undefined,
  toolRegistry: ToolSink,
  promptRegistry: PromptSink,
  debugMode: boolean,
  workspaceContext: WorkspaceContext | undefined,
  eventEmitter?: ClientUpdateEmitter,
];

/**
 * Connects to several servers side by side and fills the registries. An entry with `disabled: true` is left out. A
 * server that fails is named in a warning; `getClient(name).state` says why.
 *
 * @throws HostError `usage` if an argument is wrong
 *
 * @example
 * ```ts
 * import { EventEmitter } from "node:events";
 * import { McpClientManager, PromptRegistry, ToolRegistry } from "@fairlead/core/gemini";
 *
 * const [tools, prompts] = [new ToolRegistry(), new PromptRegistry()];
 * const workspace = { getDirectories: () => [process.cwd()] };
 * const servers = { files: { command: "my-server" } };
 * const manager = new McpClientManager(servers, undefined, tools, prompts, false, workspace, new EventEmitter());
 * await manager.discoverAllMcpTools({ isTrustedFolder: () => true });
 * console.log(tools.getAllToolNames());
 * await manager.stop();
 * ```
 */
export class McpClientManager {
  readonly #sources: Sources | undefined;
  #discovering: Promise<void> | undefined;
  readonly #clients = new Map<string, McpClient>();
  /** Servers that are connected only when a caller names or uses them. */
  readonly #lazy = new Set<McpClient>();
  #group: ConnectionGroup;

  /** @deprecated Use the list of arguments. */
  constructor(options: McpClientManagerOptions);
  constructor(
    mcpServers: Readonly<Record<string, MCPServerConfig>>,
    mcpServerCommand: string | undefined,
    toolRegistry: ToolSink,
    promptRegistry: PromptSink,
    debugMode: boolean,
    workspaceContext?: WorkspaceContext,
    eventEmitter?: ClientUpdateEmitter,
  );
  constructor(...given: readonly unknown[]) {
    if (given.length === 1 && isOptions(given[0])) {
      const { servers, startLimit, recover, emit } = toOptions(given[0]);
      const group = new ConnectionGroup({ startLimit, onDiscovery: (state) => emit?.({ type: "discovery", state }) });
      this.#group = group;
      for (const { client, isLazy, isProgram } of servers) {
        this.#clients.set(client.name, client);
        if (isLazy === true) this.#lazy.add(client);
        insideOf(client).engine.join({ group, isProgram, recover });
      }
      return;
    }
    this.#sources = toSources(given as SourceList);
    this.#group = new ConnectionGroup();
  }

  getDiscoveryState(): MCPDiscoveryState {
    return this.#group.discoveryState;
  }

  states(): readonly ServerState[] {
    return this.clients().map(({ state }) => state);
  }

  clients(): readonly McpClient[] {
    return [...this.#clients.values()];
  }

  getClient(name: string): McpClient | undefined {
    expectArguments("getClient()", { name: [name, aString] });
    return this.#clients.get(name);
  }

  /**
   * Connects to all servers and reads their lists. Resolves when each server is connected or has failed. In a folder
   * that is not trusted it does nothing. Called again, it disconnects all servers first.
   */
  async discoverAllMcpTools(cliConfig?: Config): Promise<void> {
    const wanted = this.#sources === undefined ? aConfig : withMethod("isTrustedFolder");
    expectArguments("discoverAllMcpTools()", { cliConfig: [cliConfig, wanted] });
    if (this.#sources === undefined) return this.#startAll(this.clients().filter((client) => !this.#lazy.has(client)));
    if (!isTrusted(cliConfig as Config)) return;
    const sources = this.#sources;
    // One discovery at a time: a second one would lose the servers that the first has started.
    const discover = (): Promise<void> => this.#discoverAll(sources, cliConfig as Config);
    const discovering = this.#discovering?.then(discover, discover) ?? discover();
    this.#discovering = discovering;
    await discovering;
  }

  async #discoverAll(sources: Sources, cliConfig: Config): Promise<void> {
    if (this.#clients.size > 0) await this.stop();
    this.#create(sources, cliConfig);
    await this.#startAll(this.clients());
    for (const state of this.states())
      if (state.status !== "connected" && "message" in state)
        warn(`"${state.name}" is not connected: ${state.message}`, "McpDiscoveryWarning");
  }

  /** Connects to the named servers; without names, to all. Connected servers keep their connection. */
  async start(names?: string | readonly string[]): Promise<void> {
    expectArguments("start()", { names: [names, someNames] });
    await this.#startAll(this.#named(names));
  }

  /** Disconnects the servers and connects them again. */
  async restart(names?: string | readonly string[]): Promise<void> {
    expectArguments("restart()", { names: [names, someNames] });
    const stopped = this.#named(names).map((client) => insideOf(client).engine.stopForRestart());
    await this.#group.discover(await Promise.all(stopped));
  }

  /** Disconnects the named servers; without names, all servers. Resolves when their connections are closed. */
  async stop(names?: string | readonly string[]): Promise<void> {
    expectArguments("stop()", { names: [names, someNames] });
    await Promise.all(this.#named(names).map((client) => insideOf(client).engine.stop()));
    if (names === undefined) this.#group.rest();
    if (this.#sources === undefined || names !== undefined) return;
    this.#clients.clear();
    this.#tell();
  }

  /** Connects the server if needed, reads its lists, and returns its client. Rejects if it cannot be connected. */
  async ready(name: string, signal?: AbortSignal): Promise<McpClient | undefined> {
    expectArguments("ready()", { name: [name, aName], signal: [signal, optional(aSignal)] });
    const [client] = this.#named(name);
    if (client !== undefined) await insideOf(client).engine.ready(signal);
    return client;
  }

  #startAll(clients: readonly McpClient[]): Promise<void> {
    return this.#group.discover(clients.map((client) => () => insideOf(client).engine.startAnew()));
  }

  /** @throws HostError `server_unknown` */
  #named(names: string | readonly string[] = [...this.#clients.keys()]): readonly McpClient[] {
    return [names].flat().map((name) => {
      const client = this.#clients.get(name);
      if (client !== undefined) return client;
      const near = closest(name, this.#clients.keys());
      throw new HostError(
        "server_unknown",
        `there is no server "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`,
      );
    });
  }

  #create(sources: Sources, cliConfig: Config): void {
    const { entries, toolRegistry, promptRegistry, debugMode, workspaceContext } = sources;
    const enabled = Object.entries(entries).filter(([, { disabled }]) => disabled !== true);
    const group = new ConnectionGroup();
    this.#group = group;
    for (const [name, config] of enabled) {
      // Of two tools with the same name, that of the first entry keeps it, whichever server answers first.
      toolRegistry.replaceServer?.(name, []);
      const client = new McpClient(name, config, toolRegistry, promptRegistry, workspaceContext, debugMode);
      insideOf(client).setConfig(cliConfig);
      this.#clients.set(name, client);
      client.onUpdate(() => this.#tell());
      insideOf(client).engine.join({ group, isProgram: config.command !== undefined, follow: true });
    }
    this.#tell();
  }

  #tell(): void {
    this.#sources?.eventEmitter?.emit("mcp-client-update", this.#clients);
  }
}

function isOptions(given: unknown): given is McpClientManagerOptions {
  return typeof given === "object" && given !== null && "servers" in given;
}

const aClient: Wanted = { words: "an McpClient", accepts: (given) => given instanceof McpClient };
const someNames: Wanted = optional({
  words: "a name or a list of names",
  accepts: (given) => aString.accepts(given) || aListOfStrings.accepts(given),
});

const wantedOptions = {
  servers: { words: "a list of clients", accepts: Array.isArray },
  emit: optional(aFunction),
  startLimit: optional(aCount),
  recover: optional(aBoolean),
};
const wantedServer = { client: aClient, isLazy: optional(aBoolean), isProgram: optional(aBoolean) };

/** Reads the options of the object form. @throws HostError `usage` */
function toOptions(given: McpClientManagerOptions): McpClientManagerOptions {
  const call = "new McpClientManager()";
  const { servers, ...options } = readMembers(call, given, wantedOptions, "options.");
  const managed = servers.map((server, at) => {
    const path = `options.servers[${at}]`;
    expectArguments(call, { [path]: [server, anObject] });
    return readMembers(call, server, wantedServer, `${path}.`);
  });
  return { ...options, servers: managed };
}

function toSources(given: SourceList): Sources {
  const [mcpServers, mcpServerCommand, toolRegistry, promptRegistry, debugMode, workspaceContext, eventEmitter] = given;
  const call = "new McpClientManager()";
  expectArguments(call, {
    mcpServerCommand: [mcpServerCommand, optional(aString)],
    toolRegistry: [toolRegistry, withMethod("registerTool")],
    promptRegistry: [promptRegistry, withMethod("registerPrompt")],
    debugMode: [debugMode, aBoolean],
    eventEmitter: [eventEmitter, optional(withMethod("emit"))],
  });
  workspaceFolder(call, workspaceContext);
  const entries = populateMcpServerCommand(checkServerEntries(call, mcpServers), mcpServerCommand);
  return { entries, toolRegistry, promptRegistry, debugMode, workspaceContext, eventEmitter };
}

/**
 * Connects to all servers and fills the registries, as `McpClientManager` does. Returns the manager: its `stop()` ends
 * the servers.
 *
 * @throws HostError `usage`
 */
export async function discoverMcpTools(
  mcpServers: Readonly<Record<string, MCPServerConfig>>,
  mcpServerCommand: string | undefined,
  toolRegistry: ToolSink,
  promptRegistry: PromptSink,
  debugMode: boolean,
  workspaceContext: WorkspaceContext | undefined,
  cliConfig: Config,
): Promise<McpClientManager> {
  const manager = new McpClientManager(
    mcpServers,
    mcpServerCommand,
    toolRegistry,
    promptRegistry,
    debugMode,
    workspaceContext,
  );
  await manager.discoverAllMcpTools(cliConfig);
  return manager;
}
