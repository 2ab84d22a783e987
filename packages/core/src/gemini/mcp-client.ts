/** `McpClient`: one server. It fills the registries when it has read the server's lists, and whenever they change. */

import type {
  JsonObject,
  McpRequestOptions,
  ToolResult as McpToolResult,
  PromptResult,
  ResourceResult,
} from "@fairlead/wire";
import type { MCPServerStatus, ServerState } from "../events.ts";
import {
  aBoolean,
  aFunction,
  aListOfStrings,
  anObject,
  aSignal,
  aString,
  expectArguments,
  optional,
  readMembers,
  someMilliseconds,
  withMethod,
} from "../expect-arguments.ts";
import { type Completion, Connection, type ConnectionOptions } from "../server/connection.ts";
import type { PromptValues } from "../server/discovered-prompt.ts";
import type { FilteredCatalog } from "../server/filtered-catalog.ts";
import type { MCPServerConfig } from "../settings/define/server-config.ts";
import { defaults } from "../settings/schema/defaults.ts";
import { aConfig, type Config, type WorkspaceContext, workspaceFolder } from "./config.ts";
import { type PromptSink, toPrompts, toTools } from "./discover.ts";
import { anEnvironment, type EntryOptions, entryOpener, processEnvironment } from "./open-entry.ts";
import { expectRequestOptions } from "./sdk-client.ts";
import { aServerName, checkServerEntry } from "./server-entry.ts";
import { callEach, setServerStatus } from "./server-status.ts";
import type { ToolRegistry } from "./tool-registry.ts";

/** A registry that takes tools. */
export type ToolSink = Pick<ToolRegistry, "registerTool"> &
  Partial<Pick<ToolRegistry, "removeServer" | "replaceServer">>;

/** The registries that a client fills, and the entry of its server. */
interface Filled {
  readonly serverConfig: MCPServerConfig;
  readonly toolRegistry: ToolSink;
  readonly promptRegistry: PromptSink;
}

/** What the manager needs of its clients beyond their public members. */
export interface ClientInside {
  readonly engine: Connection;
  readonly setConfig: (cliConfig: Config) => void;
}

/** Returns what the manager needs. */
export let insideOf: (client: McpClient) => ClientInside;

/**
 * One server: connects, reads its lists into the registries, sends requests and disconnects. While the server is
 * connected, changed lists are read again. It uses stored sign-ins, and opens the browser for a new one only if the
 * entry has `oauth.enabled`. It checks no trust, approval or policy; `createHost()` does.
 *
 * @throws HostError `usage` if an argument is wrong; from its methods the reason why a request failed
 *
 * @example
 * ```ts
 * import { McpClient, PromptRegistry, ToolRegistry } from "@fairlead/core/gemini";
 *
 * const [tools, prompts] = [new ToolRegistry(), new PromptRegistry()];
 * const workspace = { getDirectories: () => [process.cwd()] };
 * const client = new McpClient("files", { command: "my-server" }, tools, prompts, workspace, false);
 * await client.connect();
 * await client.discover({ isTrustedFolder: () => true });
 * console.log(tools.getAllToolNames());
 * await client.disconnect();
 * ```
 */
export class McpClient {
  readonly name: string;
  readonly #engine: Connection;
  readonly #filled: Filled | undefined;
  readonly #listeners = new Set<() => void>();
  #registered: FilteredCatalog | undefined;
  #cliConfig: Config | undefined;

  static {
    insideOf = (client) => ({
      engine: client.#engine,
      setConfig: (cliConfig) => {
        client.#cliConfig = cliConfig;
      },
    });
  }

  /** @deprecated Use the list of arguments, or `createMcpClient`. */
  constructor(options: ConnectionOptions);
  /** @param debugMode Whether the server's stderr and messages are written to stderr. Default: false. */
  constructor(
    serverName: string,
    serverConfig: MCPServerConfig,
    toolRegistry: ToolSink,
    promptRegistry: PromptSink,
    workspaceContext?: WorkspaceContext,
    debugMode?: boolean,
  );
  constructor(...given: readonly unknown[]) {
    const isObjectForm = given.length === 1 && typeof given[0] === "object" && given[0] !== null;
    const { options, filled } = isObjectForm
      ? fromObject(given[0] as ConnectionOptions)
      : fromList(given as ClientList);
    const { onState, onNews } = options;
    this.name = options.definition.name;
    this.#filled = filled;
    this.#engine = new Connection(
      {
        ...options,
        onState: (state) => {
          this.#changed(state);
          onState?.(state);
        },
        onNews: (news) => {
          if (news.type === "catalog" && this.#fill()) callEach(this.#listeners);
          onNews?.(news);
        },
      },
      { follow: filled !== undefined },
    );
  }

  getStatus(): MCPServerStatus {
    return this.#engine.getStatus();
  }

  /** The status, and the reason if the server is not connected. */
  get state(): ServerState {
    return this.#engine.state;
  }

  /** The catalog that `discover` read; undefined while the server is not connected. */
  get filteredCatalog(): FilteredCatalog | undefined {
    return this.#engine.filteredCatalog;
  }

  /** Calls the listener at each change of the status or of the lists. Returns a function that removes it. */
  onUpdate(listener: () => void): () => void {
    expectArguments("onUpdate()", { listener: [listener, aFunction] });
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Connects. @throws HostError `usage` unless the server is disconnected, and why it cannot be connected */
  async connect(signal?: AbortSignal): Promise<void> {
    expectArguments("connect()", { signal: [signal, optional(aSignal)] });
    await this.#engine.connect(signal);
  }

  /**
   * Reads the server's lists and fills the registries. Disconnects a server that offers nothing. The `trust` of its
   * entry counts only if `cliConfig` says that the folder is trusted.
   */
  async discover(cliConfig?: Config | AbortSignal): Promise<FilteredCatalog> {
    const signal = cliConfig instanceof AbortSignal ? cliConfig : undefined;
    if (!(cliConfig instanceof AbortSignal)) {
      expectArguments("discover()", { cliConfig: [cliConfig, aConfig] });
      this.#cliConfig = cliConfig;
    }
    const filteredCatalog = await this.#engine.discover(signal);
    this.#fill();
    return filteredCatalog;
  }

  /** Takes the server's tools and prompts out of the registries and closes the connection. */
  async disconnect(): Promise<void> {
    await this.#engine.disconnect();
  }

  async readResource(uri: string, options?: McpRequestOptions): Promise<ResourceResult> {
    expectArguments("readResource()", { uri: [uri, aString] });
    expectRequestOptions("readResource()", options);
    return this.#engine.readResource(uri, options);
  }

  async callTool(name: string, args: JsonObject, options?: McpRequestOptions): Promise<McpToolResult> {
    expectArguments("callTool()", { name: [name, aString], args: [args, anObject] });
    expectRequestOptions("callTool()", options);
    return this.#engine.callTool(name, args, options);
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options?: McpRequestOptions,
  ): Promise<PromptResult> {
    expectArguments("getPrompt()", { name: [name, aString], args: [args, anObject] });
    expectRequestOptions("getPrompt()", options);
    return this.#engine.getPrompt(name, args, options);
  }

  /** Returns suggested values for an argument. `params` are those of `completion/complete`. */
  async complete(params: JsonObject, options?: McpRequestOptions): Promise<Completion> {
    expectArguments("complete()", { params: [params, anObject] });
    expectRequestOptions("complete()", options);
    return this.#engine.complete(params, options);
  }

  #changed(state: ServerState): void {
    if (state.status !== "connected") this.#empty();
    else if (state.offer !== undefined) this.#fill();
    setServerStatus(this.name, state.status);
    callEach(this.#listeners);
  }

  /** Replaces the server's tools and prompts in the registries. Returns false if they are there already. */
  #fill(): boolean {
    const { filteredCatalog, name: serverName } = this;
    if (this.#filled === undefined || filteredCatalog === undefined || filteredCatalog === this.#registered)
      return false;
    this.#empty();
    this.#registered = filteredCatalog;
    const { serverConfig, toolRegistry, promptRegistry } = this.#filled;
    const { tools, prompts } = filteredCatalog.catalog;
    const get = (name: string, values: PromptValues, signal?: AbortSignal): Promise<PromptResult> =>
      this.#engine.getPrompt(name, values, { signal, timeout: serverConfig.timeout });
    for (const tool of toTools(tools, { serverName, serverConfig, client: this, cliConfig: this.#cliConfig }))
      toolRegistry.registerTool(tool);
    for (const prompt of toPrompts(serverName, prompts, get)) promptRegistry.registerPrompt(prompt);
    return true;
  }

  #empty(): void {
    if (this.#registered === undefined) return;
    this.#registered = undefined;
    this.#filled?.toolRegistry.removeServer?.(this.name);
    this.#filled?.promptRegistry.removeServer?.(this.name);
  }
}

interface ClientParts {
  readonly options: ConnectionOptions;
  readonly filled?: Filled;
}

const call = "new McpClient()";

function fromObject(options: ConnectionOptions): ClientParts {
  const { definition, ...members } = readMembers(
    call,
    options,
    {
      definition: anObject,
      open: aFunction,
      connectTimeout: someMilliseconds,
      catalogBytes: optional(aFunction),
      onState: optional(aFunction),
      onNews: optional(aFunction),
      observe: optional(aFunction),
      clock: optional(withMethod("after")),
      random: optional(aFunction),
    },
    "options.",
  );
  const { name, includeTools, excludeTools } = readMembers(
    call,
    definition,
    { name: aServerName, includeTools: optional(aListOfStrings), excludeTools: aListOfStrings },
    "options.definition.",
  );
  return { options: { ...members, definition: { name, includeTools, excludeTools } } };
}

type ClientList = readonly [string, MCPServerConfig, ToolSink, PromptSink, WorkspaceContext?, boolean?];

function fromList(given: ClientList): ClientParts {
  const [serverName, serverConfig, toolRegistry, promptRegistry, workspaceContext, debugMode] = given;
  expectArguments(call, {
    serverName: [serverName, aServerName],
    toolRegistry: [toolRegistry, withMethod("registerTool")],
    promptRegistry: [promptRegistry, withMethod("registerPrompt")],
    debugMode: [debugMode, optional(aBoolean)],
  });
  const entry = checkServerEntry(call, "serverConfig", serverName, serverConfig);
  const environment = processEnvironment(workspaceFolder(call, workspaceContext));
  return {
    options: clientOptions(serverName, entry, { environment, debugMode }),
    filled: { serverConfig: entry, toolRegistry, promptRegistry },
  };
}

function clientOptions(name: string, config: MCPServerConfig, options: EntryOptions): ConnectionOptions {
  const { includeTools, excludeTools = [] } = config;
  return {
    definition: { name, includeTools, excludeTools },
    connectTimeout: options.connectTimeout ?? defaults.connectTimeout,
    open: entryOpener(name, config, options),
  };
}

/** Options of `createMcpClient`. */
export interface CreateMcpClientOptions
  extends EntryOptions,
    Pick<ConnectionOptions, "onState" | "onNews" | "observe" | "clock" | "random"> {}

/**
 * Creates a client without registries that is not connected yet. The client checks no trust, approval or policy and
 * writes no log; `createHost()` does all of that. A server that requires a sign-in which is not stored gets the status
 * `needs_auth`.
 *
 * @throws HostError `usage`; `variable_unset` or `settings_invalid` from `connect()`, if a variable of the entry is not
 * set or makes it invalid
 * @example
 * ```ts
 * import { createMcpClient } from "@fairlead/core/gemini";
 *
 * const client = createMcpClient("files", { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] });
 * await client.connect();
 * const { catalog } = await client.discover();
 * await client.disconnect();
 * ```
 */
export function createMcpClient(
  name: string,
  config: MCPServerConfig,
  options: CreateMcpClientOptions = {},
): McpClient {
  const create = "createMcpClient()";
  expectArguments(create, { name: [name, aServerName], options: [options, anObject] });
  const entry = checkServerEntry(create, "config", name, config);
  const { onState, onNews, observe, clock, random, ...opening } = readMembers(
    create,
    options,
    {
      onState: optional(aFunction),
      onNews: optional(aFunction),
      observe: optional(aFunction),
      clock: optional(withMethod("after")),
      random: optional(aFunction),
      connectTimeout: optional(someMilliseconds),
      environment: anEnvironment,
      secret: optional(aFunction),
      tokens: optional(withMethod("getCredentials")),
      signIn: optional(anObject),
      debugMode: optional(aBoolean),
    },
    "options.",
  );
  const listeners = { onState, onNews, observe, clock, random };
  return new McpClient({ ...listeners, ...clientOptions(name, entry, opening) });
}
