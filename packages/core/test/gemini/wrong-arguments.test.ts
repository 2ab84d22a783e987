/** Every class, function and method of `@fairlead/core/gemini`, with wrong values for each of its parameters. */

import { programServer, stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as gemini from "../../src/gemini/index.ts";

const {
  BaseDeclarativeTool,
  BaseToolInvocation,
  ConnectedClient,
  DiscoveredMCPPrompt,
  DiscoveredMCPTool,
  DiscoveredMCPToolInvocation,
  LoadedTrustedFolders,
  MCPOAuthProvider,
  MCPOAuthTokenStorage,
  MCPPermissionManager,
  MCPToolTestHelper,
  McpClient,
  McpClientManager,
  PromptRegistry,
  SecureMCPToolExecutor,
  ToolRegistry,
  TrustLevel,
} = gemini;

/** A value whose every member throws when it is read, as a getter of a program may. */
const hostile: unknown = new Proxy(
  {},
  {
    get() {
      throw new TypeError("hostile getter");
    },
  },
);
const all = {
  undefined: undefined,
  null: null,
  number: 5,
  NaN: Number.NaN,
  string: "x",
  empty: "",
  boolean: true,
  list: ["x", 5],
  object: {},
  function: () => {},
  symbol: Symbol("x"),
  bigint: 5n,
  hostile,
};
type Kind = keyof typeof all;

/** The kinds of values that a parameter of this type takes. Every other kind is wrong. */
const takes = {
  text: ["string", "empty"],
  name: ["string"],
  flag: ["boolean"],
  number: ["number"],
  function: ["function"],
  /** Any object will do, and a hostile one only when its members are read. */
  object: ["object", "hostile"],
  exact: [],
} satisfies Record<string, readonly Kind[]>;

type Call = (...list: never[]) => unknown;
/** One parameter: its name, a right value, and the kinds of values that it takes. */
type Parameter = readonly [name: string, right: unknown, takes: keyof typeof takes, also?: readonly Kind[]];

const optional = ["undefined"] as const;
const mcpTool = MCPToolTestHelper.createMockCallableTool();
const schema = { type: "object" };
const signal = new AbortController().signal;
const config = { isTrustedFolder: () => true };
const workspace = { getDirectories: () => [process.cwd()] };
const entry = programServer("well-behaved");
const storage = new MCPOAuthTokenStorage(async () => {
  throw new Error("no store");
});
const sdkClient = {
  listTools: async () => ({ tools: [] }),
  callTool: async () => ({ content: [] }),
  listPrompts: async () => ({ prompts: [] }),
  getPrompt: async () => ({ messages: [] }),
};
const builtTool = (): gemini.DiscoveredMCPTool => new DiscoveredMCPTool(mcpTool, "s", "t", "d", schema, 1000, true);
const prompt = (): gemini.DiscoveredMCPPrompt =>
  new DiscoveredMCPPrompt({ serverName: "s", serverPromptName: "p", get: async () => ({ messages: [], notes: [] }) });
const client = (): gemini.McpClient => new McpClient("s", entry, new ToolRegistry(), new PromptRegistry());
const manager = (): gemini.McpClientManager =>
  new McpClientManager({}, undefined, new ToolRegistry(), new PromptRegistry(), false);

class OwnInvocation extends BaseToolInvocation {
  async execute(): Promise<gemini.ToolResult> {
    return { llmContent: [], returnDisplay: "" };
  }
}
class OwnTool extends BaseDeclarativeTool {
  protected createInvocation(params: gemini.ToolParams): OwnInvocation {
    return new OwnInvocation(params);
  }
}
const ownTool = (): OwnTool => new OwnTool("t", "T", "d", "other", schema);

let folder: TemporaryFolder;
let connected: gemini.ConnectedClient;
beforeAll(async () => {
  folder = await temporaryFolder();
  connected = await gemini.connectToMcpServer("s", stdioServer("well-behaved"));
});
afterAll(async () => {
  await connected.close();
  await folder[Symbol.asyncDispose]();
});

const calls: Readonly<Record<string, readonly [Call, ...Parameter[]]>> = {
  "new BaseTool()": [
    (...list) => Reflect.construct(OwnTool, list),
    ["name", "t", "name"],
    ["displayName", "T", "text"],
    ["description", "d", "text"],
    ["kind", "other", "text"],
    ["parameterSchema", schema, "object"],
    ["isOutputMarkdown", true, "flag", optional],
    ["canUpdateOutput", false, "flag", optional],
  ],
  "BaseTool.getDescription()": [(params) => ownTool().getDescription(params), ["params", {}, "object"]],
  "BaseDeclarativeTool.build()": [(params) => ownTool().build(params), ["params", {}, "object"]],
  "BaseDeclarativeTool.buildAndExecute()": [
    (params, given) => ownTool().buildAndExecute(params, given),
    ["params", {}, "object"],
    ["signal", signal, "exact", optional],
  ],
  "BaseDeclarativeTool.execute()": [
    (params, given) => ownTool().execute(params, given),
    ["params", {}, "object"],
    ["signal", signal, "exact", optional],
  ],
  "BaseDeclarativeTool.shouldConfirmExecute()": [
    (params, given) => ownTool().shouldConfirmExecute(params, given),
    ["params", {}, "object"],
    ["abortSignal", signal, "exact", optional],
  ],
  "new BaseToolInvocation()": [(params) => new OwnInvocation(params), ["params", {}, "object"]],
  "new DiscoveredMCPTool()": [
    (...list) => Reflect.construct(DiscoveredMCPTool, list),
    ["mcpTool", mcpTool, "exact"],
    ["serverName", "s", "name"],
    ["serverToolName", "t", "name"],
    ["description", "d", "text"],
    ["parameterSchema", schema, "object"],
    // Its place is also that of `trust`, so a boolean is right.
    ["timeout", 1000, "number", ["undefined", "boolean"]],
    ["trust", true, "flag", optional],
    ["nameOverride", "n", "text", optional],
    ["cliConfig", config, "exact", optional],
  ],
  "DiscoveredMCPTool.execute()": [
    (params, given) => builtTool().execute(params, given),
    ["params", {}, "exact", ["object"]],
    ["signal", signal, "exact", optional],
  ],
  "DiscoveredMCPTool.build()": [(params) => builtTool().build(params), ["params", {}, "exact", ["object"]]],
  "DiscoveredMCPTool.shouldConfirmExecute()": [
    (params, given) => builtTool().shouldConfirmExecute(params, given),
    ["params", {}, "exact", ["object"]],
    ["abortSignal", signal, "exact", optional],
  ],
  "DiscoveredMCPTool.toServerArguments()": [
    (params) => builtTool().toServerArguments(params),
    ["params", {}, "exact", ["object"]],
  ],
  "DiscoveredMCPTool.named()": [(name) => builtTool().named(name), ["name", "n", "name"]],
  "new DiscoveredMCPToolInvocation()": [
    (...list) => Reflect.construct(DiscoveredMCPToolInvocation, list),
    ["tool", builtTool(), "exact"],
    ["params", {}, "object"],
  ],
  "DiscoveredMCPToolInvocation.execute()": [
    (given) => builtTool().build({}).execute(given),
    ["signal", signal, "exact", optional],
  ],
  "new DiscoveredMCPPrompt()": [
    (...list) => Reflect.construct(DiscoveredMCPPrompt, list),
    ["options", { serverName: "s", serverPromptName: "p", get: async () => ({ messages: [], notes: [] }) }, "exact"],
  ],
  "DiscoveredMCPPrompt.named()": [(name) => prompt().named(name), ["name", "n", "text"]],
  "DiscoveredMCPPrompt.invoke()": [
    (values, given) => prompt().invoke(values, given),
    ["values", {}, "object", optional],
    ["signal", signal, "exact", optional],
  ],
  "new McpClient()": [
    (...list) => Reflect.construct(McpClient, list),
    ["serverName", "s", "name"],
    ["serverConfig", entry, "exact"],
    ["toolRegistry", new ToolRegistry(), "exact"],
    ["promptRegistry", new PromptRegistry(), "exact"],
    ["workspaceContext", workspace, "exact", optional],
    ["debugMode", false, "flag", optional],
  ],
  "McpClient.connect()": [(given) => client().connect(given), ["signal", AbortSignal.abort(), "exact", optional]],
  "McpClient.discover()": [(given) => client().discover(given), ["cliConfig", config, "exact", optional]],
  "McpClient.onUpdate()": [(listener) => client().onUpdate(listener), ["listener", () => {}, "function"]],
  "McpClient.readResource()": [
    (uri, options) => client().readResource(uri, options),
    ["uri", "test://x", "text"],
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "McpClient.callTool()": [
    (name, args, options) => client().callTool(name, args, options),
    ["name", "t", "text"],
    ["args", {}, "object"],
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "McpClient.getPrompt()": [
    (name, args, options) => client().getPrompt(name, args, options),
    ["name", "t", "text"],
    ["args", {}, "object", optional],
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "McpClient.complete()": [
    (params, options) => client().complete(params, options),
    ["params", {}, "object"],
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "createMcpClient()": [
    gemini.createMcpClient,
    ["name", "s", "name"],
    ["config", entry, "exact"],
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "new McpClientManager()": [
    (...list) => Reflect.construct(McpClientManager, list),
    ["mcpServers", {}, "object"],
    ["mcpServerCommand", undefined, "text", optional],
    ["toolRegistry", new ToolRegistry(), "exact"],
    ["promptRegistry", new PromptRegistry(), "exact"],
    ["debugMode", false, "flag"],
    ["workspaceContext", workspace, "exact", optional],
    ["eventEmitter", { emit: () => true }, "exact", optional],
  ],
  "McpClientManager.getClient()": [(name) => manager().getClient(name), ["name", "s", "text"]],
  "McpClientManager.discoverAllMcpTools()": [
    (given) => manager().discoverAllMcpTools(given),
    ["cliConfig", config, "exact"],
  ],
  "McpClientManager.start()": [(names) => manager().start(names), ["names", [], "text", optional]],
  "McpClientManager.restart()": [(names) => manager().restart(names), ["names", [], "text", optional]],
  "McpClientManager.stop()": [(names) => manager().stop(names), ["names", [], "text", optional]],
  "McpClientManager.ready()": [
    (name, given) => manager().ready(name, given),
    ["name", "s", "name"],
    ["signal", signal, "exact", optional],
  ],
  "discoverMcpTools()": [
    gemini.discoverMcpTools,
    ["mcpServers", {}, "object"],
    ["mcpServerCommand", undefined, "text", ["undefined", "string"]],
    ["toolRegistry", new ToolRegistry(), "exact"],
    ["promptRegistry", new PromptRegistry(), "exact"],
    ["debugMode", false, "flag"],
    ["workspaceContext", workspace, "exact", optional],
    ["cliConfig", config, "exact"],
  ],
  "connectToMcpServer()": [
    gemini.connectToMcpServer,
    ["serverName", "s", "name"],
    ["serverConfig", programServer("exits", "3"), "exact"],
    ["debugMode", false, "flag", optional],
    ["workspaceContext", workspace, "exact", optional],
  ],
  "discoverTools()": [
    gemini.discoverTools,
    ["serverName", "s", "name"],
    ["serverConfig", {}, "exact", ["object"]],
    ["client", sdkClient, "exact"],
    ["cliConfig", config, "exact", optional],
  ],
  "discoverPrompts()": [
    gemini.discoverPrompts,
    ["serverName", "s", "name"],
    ["client", sdkClient, "exact"],
    ["promptRegistry", new PromptRegistry(), "exact"],
  ],
  "isEnabled()": [
    gemini.isEnabled,
    ["funcDecl", { name: "t" }, "exact", ["object"]],
    ["mcpServerName", "s", "text"],
    ["mcpServerConfig", {}, "exact", ["object"]],
  ],
  "generateValidName()": [gemini.generateValidName, ["name", "t", "text"]],
  "populateMcpServerCommand()": [
    gemini.populateMcpServerCommand,
    ["mcpServers", {}, "object"],
    ["mcpServerCommand", undefined, "text", optional],
  ],
  "mcpToTool()": [gemini.mcpToTool, ["client", sdkClient, "exact"], ["options", {}, "exact", ["undefined", "object"]]],
  "mcpToTool().callTool()": [(given) => gemini.mcpToTool(sdkClient).callTool(given), ["calls", [], "exact"]],
  "transformMcpContentToParts()": [
    gemini.transformMcpContentToParts,
    ["sdkResponse", [], "exact"],
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "getStringifiedResultForDisplay()": [
    gemini.getStringifiedResultForDisplay,
    ["result", [], "exact", ["undefined", "null"]],
  ],
  "getMCPServerStatus()": [gemini.getMCPServerStatus, ["serverName", "s", "text"]],
  "addMCPStatusChangeListener()": [gemini.addMCPStatusChangeListener, ["listener", () => {}, "exact", ["function"]]],
  "removeMCPStatusChangeListener()": [gemini.removeMCPStatusChangeListener, ["listener", all.function, "function"]],
  "new ConnectedClient()": [
    (...list) => Reflect.construct(ConnectedClient, list),
    ["serverName", "s", "name"],
    ["session", { request: () => {} }, "exact"],
    ["timeout", 5, "number", optional],
  ],
  "ConnectedClient.callTool()": [
    (params, result, options) => connected.callTool(params, result, options),
    ["params", { name: "echo" }, "exact"],
    // The SDK's schema of a result, which has no effect, may be anything.
    ["schemaOrOptions", undefined, "exact", Object.keys(all) as Kind[]],
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "ConnectedClient.getPrompt()": [
    (params, options) => connected.getPrompt(params, options),
    ["params", { name: "p" }, "exact"],
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "ConnectedClient.readResource()": [
    (params, options) => connected.readResource(params, options),
    ["params", { uri: "test://x" }, "exact"],
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "new ToolRegistry()": [
    (...list) => Reflect.construct(ToolRegistry, list),
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "ToolRegistry.registerTool()": [(tool) => new ToolRegistry().registerTool(tool), ["tool", builtTool(), "exact"]],
  "ToolRegistry.replaceServer()": [
    (name, tools) => new ToolRegistry().replaceServer(name, tools),
    ["serverName", "s", "text"],
    ["tools", [], "function"],
  ],
  "ToolRegistry.setServerOrder()": [
    (order, qualified) => new ToolRegistry().setServerOrder(order, qualified),
    ["serverOrder", [], "exact"],
    ["alwaysQualified", [], "exact", optional],
  ],
  "ToolRegistry.removeServer()": [(name) => new ToolRegistry().removeServer(name), ["serverName", "s", "text"]],
  "ToolRegistry.removeMcpToolsByServer()": [
    (name) => new ToolRegistry().removeMcpToolsByServer(name),
    ["serverName", "s", "text"],
  ],
  "ToolRegistry.getTool()": [(name) => new ToolRegistry().getTool(name), ["modelName", "t", "text"]],
  "ToolRegistry.getToolsByServer()": [(name) => new ToolRegistry().getToolsByServer(name), ["serverName", "s", "text"]],
  "ToolRegistry.find()": [
    (server, tool) => new ToolRegistry().find(server, tool),
    ["serverName", "s", "text"],
    ["serverToolName", "t", "text"],
  ],
  "new PromptRegistry()": [
    (...list) => Reflect.construct(PromptRegistry, list),
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "PromptRegistry.registerPrompt()": [
    (given) => new PromptRegistry().registerPrompt(given),
    ["prompt", prompt(), "exact"],
  ],
  "PromptRegistry.replaceServer()": [
    (name, prompts) => new PromptRegistry().replaceServer(name, prompts),
    ["serverName", "s", "text"],
    ["prompts", [], "function"],
  ],
  "PromptRegistry.setServerOrder()": [
    (order, qualified) => new PromptRegistry().setServerOrder(order, qualified),
    ["serverOrder", [], "exact"],
    ["alwaysQualified", [], "exact", optional],
  ],
  "PromptRegistry.removeServer()": [(name) => new PromptRegistry().removeServer(name), ["serverName", "s", "text"]],
  "PromptRegistry.getPrompt()": [(name) => new PromptRegistry().getPrompt(name), ["name", "t", "text"]],
  "PromptRegistry.getPromptsByServer()": [
    (name) => new PromptRegistry().getPromptsByServer(name),
    ["serverName", "s", "text"],
  ],
  "PromptRegistry.find()": [
    (server, name) => new PromptRegistry().find(server, name),
    ["serverName", "s", "text"],
    ["serverPromptName", "t", "text"],
  ],
  "createAllowList().allows()": [
    (server, tool) => gemini.createAllowList().allows(server, tool),
    ["server", "s", "text"],
    ["tool", "t", "text"],
  ],
  "createAllowList().addServer()": [(server) => gemini.createAllowList().addServer(server), ["server", "s", "text"]],
  "createAllowList().addTool()": [
    (server, tool) => gemini.createAllowList().addTool(server, tool),
    ["server", "s", "text"],
    ["tool", "t", "text"],
  ],
  "new SecureMCPToolExecutor()": [
    (...list) => Reflect.construct(SecureMCPToolExecutor, list),
    ["options", {}, "exact", ["undefined", "object"]],
  ],
  "SecureMCPToolExecutor.executeWithSafeguards()": [
    async (tool, params, given) => {
      await using executor = new SecureMCPToolExecutor();
      return await executor.executeWithSafeguards(tool, params, given);
    },
    ["tool", builtTool(), "exact"],
    ["params", {}, "exact", ["object"]],
    ["signal", signal, "exact", optional],
  ],
  "MCPPermissionManager.setServerPermissions()": [
    (name, tools) => new MCPPermissionManager().setServerPermissions(name, tools),
    ["serverName", "s", "text"],
    ["allowedTools", [], "exact"],
  ],
  "MCPPermissionManager.denyToolGlobally()": [
    (name) => new MCPPermissionManager().denyToolGlobally(name),
    ["toolName", "t", "text"],
  ],
  "MCPPermissionManager.isToolAllowed()": [
    (tool) => new MCPPermissionManager().isToolAllowed(tool),
    ["tool", builtTool(), "exact"],
  ],
  "MCPPermissionManager.createSecureTool()": [
    (tool) => new MCPPermissionManager().createSecureTool(tool),
    ["tool", builtTool(), "exact"],
  ],
  "MCPToolTestHelper.createMockCallableTool()": [
    (responses) => MCPToolTestHelper.createMockCallableTool(responses),
    ["responses", {}, "object", optional],
  ],
  "MCPToolTestHelper.createTestTool()": [
    (...list: Parameters<typeof MCPToolTestHelper.createTestTool>) => MCPToolTestHelper.createTestTool(...list),
    ["serverName", "s", "name", optional],
    ["toolName", "t", "name", optional],
    ["overrides", [], "exact", ["undefined", "object", "list", "hostile"]],
  ],
  "MCPToolTestHelper.testToolExecution()": [
    (tool, params) => MCPToolTestHelper.testToolExecution(tool, params),
    ["tool", builtTool(), "exact"],
    ["params", {}, "exact", ["object"]],
  ],
  "new LoadedTrustedFolders()": [
    (...list) => Reflect.construct(LoadedTrustedFolders, list),
    ["file", "/f.json", "name"],
    ["rules", [], "exact"],
  ],
  "LoadedTrustedFolders.isPathTrusted()": [
    (path) => new LoadedTrustedFolders("/f.json", []).isPathTrusted(path),
    ["path", "/", "name"],
  ],
  "LoadedTrustedFolders.setValue()": [
    (path, level) => new LoadedTrustedFolders(`${folder.path}/trusted.json`, []).setValue(path, level),
    ["path", "/", "name"],
    ["trustLevel", TrustLevel.TRUST_FOLDER, "exact"],
  ],
  "new MCPOAuthTokenStorage()": [
    (...list) => Reflect.construct(MCPOAuthTokenStorage, list),
    ["open", async () => ({}), "function"],
    ["pin", "p", "text", optional],
  ],
  "MCPOAuthTokenStorage.pinned()": [(pin) => storage.pinned(pin), ["pin", "p", "text", optional]],
  "MCPOAuthTokenStorage.nameOf()": [(url) => storage.nameOf(url), ["serverUrl", "https://a.test", "exact"]],
  "MCPOAuthTokenStorage.getCredentials()": [
    (url) => storage.getCredentials(url),
    ["serverUrl", "https://a.test", "exact"],
  ],
  "MCPOAuthTokenStorage.lastKnown()": [(url) => storage.lastKnown(url), ["serverUrl", "https://a.test", "exact"]],
  "MCPOAuthTokenStorage.deleteCredentials()": [
    (url) => storage.deleteCredentials(url),
    ["serverUrl", "https://a.test", "exact"],
  ],
  "MCPOAuthTokenStorage.saveCredentials()": [(given) => storage.saveCredentials(given), ["credentials", {}, "exact"]],
  "openTokenStorage()": [gemini.openTokenStorage, ["options", {}, "exact"]],
  "new MCPOAuthProvider()": [(...list) => Reflect.construct(MCPOAuthProvider, list), ["options", {}, "exact"]],
  "MCPOAuthProvider.authenticate()": [
    (server, ui, given) =>
      new MCPOAuthProvider({ storage, lockFolder: folder.path, env: {} }).authenticate(server, ui, given),
    ["server", { serverName: "s", serverUrl: "http://127.0.0.1:9/" }, "exact"],
    ["ui", {}, "exact", ["object", "hostile"]],
    ["signal", signal, "exact", optional],
  ],
  "MCPOAuthProvider.offersSignIn()": [
    (server) => new MCPOAuthProvider({ storage, lockFolder: folder.path, env: {} }).offersSignIn(server),
    ["server", { serverName: "s", serverUrl: "http://127.0.0.1:9/" }, "exact"],
  ],
  "MCPOAuthProvider.getValidToken()": [
    (url, pin) => new MCPOAuthProvider({ storage, lockFolder: folder.path, env: {} }).getValidToken(url, pin),
    ["serverUrl", "https://a.test", "text"],
    ["pin", "p", "text", optional],
  ],
  // The right value would read the files of the person who runs the tests, so each call here has a wrong one.
  "loadTrustedFolders()": [gemini.loadTrustedFolders, ["environment", {}, "exact", optional]],
  "isWorkspaceTrusted()": [
    gemini.isWorkspaceTrusted,
    ["folder", "/", "name", optional],
    ["environment", {}, "exact", optional],
  ],
};

async function thrownBy(call: Call, list: readonly unknown[]): Promise<unknown> {
  try {
    await call(...(list as never[]));
    return undefined;
  } catch (error) {
    return error;
  }
}

const rows = Object.entries(calls).flatMap(([name, [call, ...parameters]]) =>
  parameters.map((parameter, at) => [name, parameter[0], call, parameters, at] as const),
);

test.each(rows)("%s names a wrong %s", async (_name, parameter, call, parameters, at) => {
  const [, , kind, also = []] = parameters[at] as Parameter;
  const right: readonly Kind[] = [...takes[kind], ...also];
  for (const [given, value] of Object.entries(all)) {
    if (right.includes(given as Kind)) continue;
    const list = parameters.map(([, fitting], index) => (index === at ? value : fitting));
    const error = await thrownBy(call, list);
    expect(error, given).toBeInstanceOf(gemini.HostError);
    expect(error, given).toMatchObject({ code: "usage", message: expect.stringContaining(`"${parameter}`) });
  }
});

/** Objects that a call takes, each with the names of its members in messages. */
const objects: Readonly<Record<string, readonly [call: Call, right: object, path: string]>> = {
  "new DiscoveredMCPTool({ … })": [
    (options) => new DiscoveredMCPTool(options),
    {
      mcpTool,
      serverName: "s",
      serverToolName: "t",
      description: "d",
      parameterSchemaJson: schema,
      timeout: 5,
      trust: true,
      nameOverride: "n",
      cliConfig: config,
      title: "T",
      annotations: {},
      outputSchema: schema,
      allowList: gemini.createAllowList(),
      dialect: "gemini",
    },
    "",
  ],
  "new DiscoveredMCPPrompt({ … })": [
    (options) => new DiscoveredMCPPrompt(options),
    {
      serverName: "s",
      serverPromptName: "p",
      title: "T",
      description: "d",
      arguments: [{ name: "a" }],
      nameOverride: "n",
      get: async () => ({ messages: [], notes: [] }),
    },
    "options.",
  ],
  "new McpClient({ … })": [
    (options) => new McpClient(options),
    { definition: { name: "s", excludeTools: [] }, open: async () => {}, connectTimeout: 5, onState: () => {} },
    "options.",
  ],
  "the options of createMcpClient()": [
    (options) => gemini.createMcpClient("s", entry, options),
    {
      connectTimeout: 5,
      environment: { env: {}, home: "/", cwd: "/", platform: "linux" },
      secret: async () => "",
      tokens: storage,
      signIn: {},
      debugMode: false,
      onState: () => {},
      onNews: () => {},
      observe: () => {},
      random: Math.random,
    },
    "options.",
  ],
  "new McpClientManager({ … })": [
    (options) => new McpClientManager(options),
    { servers: [], emit: () => {}, startLimit: 4, recover: false },
    "options.",
  ],
  "a server of new McpClientManager({ … })": [
    (server) => new McpClientManager({ servers: [server] }),
    { client: client(), isLazy: false, isProgram: true },
    "options.servers[0].",
  ],
  "the options of mcpToTool()": [(options) => gemini.mcpToTool(sdkClient, options), { timeout: 5 }, "options."],
  "the options of transformMcpContentToParts()": [
    (options) => gemini.transformMcpContentToParts([], options),
    { toolName: "t", nonce: "n", limits: {} },
    "options.",
  ],
  "the options of new ToolRegistry()": [
    (options) => new ToolRegistry(options),
    { serverOrder: [], alwaysQualified: [], toolsPerServer: 5 },
    "options.",
  ],
  "the options of new PromptRegistry()": [
    (options) => new PromptRegistry(options),
    { serverOrder: [], alwaysQualified: [] },
    "options.",
  ],
  "the options of new SecureMCPToolExecutor()": [
    (options) => new SecureMCPToolExecutor(options),
    { maxConcurrentExecutions: 5, executionTimeout: 5 },
    "options.",
  ],
  "the tool of executeWithSafeguards()": [
    async (tool) => {
      await using executor = new SecureMCPToolExecutor();
      return await executor.executeWithSafeguards(tool, {});
    },
    { serverName: "s", serverToolName: "t", timeout: 5, execute: async () => ({ llmContent: [] }) },
    "tool",
  ],
  "the tool of isToolAllowed()": [
    (tool) => new MCPPermissionManager().isToolAllowed(tool),
    { serverName: "s", serverToolName: "t", trust: true },
    "tool.",
  ],
  "the entry of discoverTools()": [
    (serverConfig) => gemini.discoverTools("s", serverConfig, sdkClient),
    { includeTools: [], excludeTools: [], timeout: 5, trust: true },
    "serverConfig.",
  ],
  "the entry of isEnabled()": [
    (serverConfig) => gemini.isEnabled({ name: "t" }, "s", serverConfig),
    { includeTools: [], excludeTools: [] },
    "mcpServerConfig.",
  ],
  "the servers of populateMcpServerCommand()": [
    (servers) => gemini.populateMcpServerCommand(servers),
    { one: entry },
    "mcpServers.",
  ],
  "the servers of new McpClientManager()": [
    (servers) => new McpClientManager(servers, undefined, new ToolRegistry(), new PromptRegistry(), false),
    { one: entry },
    "mcpServers.",
  ],
  "the params of ConnectedClient.callTool()": [
    (params) => connected.callTool(params),
    { name: "echo", arguments: { text: "x" } },
    "params.",
  ],
  "the options of ConnectedClient.callTool()": [
    (options) => connected.callTool({ name: "echo", arguments: { text: "x" } }, options),
    { signal, timeout: 5000 },
    "options.",
  ],
  "the options of openTokenStorage()": [
    (options) => gemini.openTokenStorage(options),
    { state: "/s", env: {}, platform: "linux" },
    "options.",
  ],
  "new MCPOAuthProvider({ … })": [
    (options) => new MCPOAuthProvider(options),
    { storage, lockFolder: "/l", env: {}, clientMetadataUrl: "https://a.test", now: Date.now, random: Math.random },
    "options.",
  ],
};

test.each(Object.entries(objects))("%s names a wrong member, and one that cannot be read", async (_name, row) => {
  const [call, right, path] = row;
  expect(await thrownBy(call, [right])).toBeUndefined();
  for (const member of Object.keys(right)) {
    const unreadable = Object.defineProperty({ ...right }, member, {
      enumerable: true,
      get() {
        throw new TypeError("hostile getter");
      },
    });
    for (const given of [{ ...right, [member]: Symbol("x") }, unreadable]) {
      const error = await thrownBy(call, [given]);
      expect(error, member).toBeInstanceOf(gemini.HostError);
      expect(error, member).toMatchObject({ code: "usage", message: expect.stringContaining(`"${path}`) });
    }
  }
});

const wrongEntries: readonly (readonly [entry: unknown, why: string])[] = [
  [{}, "the entry has none of command, url and httpUrl"],
  [{ command: "x", url: "http://127.0.0.1:9" }, "the entry has command and url"],
  [{ command: 5 }, '"command" must be text, not a number'],
  [{ command: " " }, '"command" is empty'],
  [{ command: "x", args: "y" }, '"args" must be a list of texts, not text'],
  [{ command: "x", args: [5] }, 'item 1 of "args" must be text, not a number'],
  [{ command: "x", env: { A: null } }, '"A" must be text, not null'],
  [{ command: "x", timeout: "5" }, '"timeout" must be a number, not text'],
  [{ command: "x", trust: "yes" }, '"trust" must be true or false, not text'],
  [{ command: "x", includeTools: [null] }, 'item 1 of "includeTools" must be text, not null'],
  [{ command: "${" }, '"command" cannot be expanded'],
  [{ url: "no address" }, '"url" is "no address", which is not a URL'],
  [{ httpUrl: "http://127.0.0.1:9", headers: { "a b": "c" } }, '"a b" cannot be the name of a header'],
  [{ httpUrl: "http://127.0.0.1:9", authProviderType: "magic" }, '"authProviderType" is "magic"'],
  [{ command: "x", timeout: 5n }, "it cannot be read as JSON"],
];

test.each(wrongEntries)("the entry %o is refused before anything starts", async (given, why) => {
  const registries = [new ToolRegistry(), new PromptRegistry()] as const;
  const attempts: readonly (readonly [parameter: string, call: () => unknown])[] = [
    ["serverConfig", () => new McpClient("s", given as never, ...registries)],
    ["config", () => gemini.createMcpClient("s", given as never)],
    ["serverConfig", () => gemini.connectToMcpServer("s", given as never)],
    ["mcpServers.s", () => new McpClientManager({ s: given as never }, undefined, ...registries, false)],
    [
      "mcpServers.s",
      () => gemini.discoverMcpTools({ s: given as never }, undefined, ...registries, false, undefined, config),
    ],
  ];
  for (const [parameter, call] of attempts) {
    const message = expect.stringContaining(`"${parameter}" is wrong: ${why}`);
    expect(await thrownBy(call, [])).toMatchObject({ name: "HostError", code: "usage", message });
  }
});

test("every class and function is in the tables", () => {
  /** These take nothing, anything, or are the error itself. `BaseTool` and `createAllowList` are there by what they make. */
  const free = new Set(["HostError", "hasValidTypes", "MCPPermissionManager", "MCPToolTestHelper", "createAllowList"]);
  const tested = Object.keys(calls).map((name) => name.replace(/^new /, "").replace(/[(].*/, ""));
  const exported = Object.entries(gemini).filter(([, value]) => typeof value === "function");
  const missing = exported.filter(([name]) => !free.has(name) && !tested.some((call) => call.split(".")[0] === name));
  expect(missing.map(([name]) => name)).toEqual([]);
});
