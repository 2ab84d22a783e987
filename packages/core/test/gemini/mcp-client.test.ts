import { EventEmitter, once } from "node:events";
import { programServer, stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import {
  addMCPStatusChangeListener,
  createMcpClient,
  DiscoveredMCPTool,
  getMCPServerStatus,
  type MCPServerConfig,
  McpClient,
  McpClientManager,
  mcpToTool,
  PromptRegistry,
  removeMCPStatusChangeListener,
  ToolRegistry,
} from "../../src/gemini/index.ts";

const trusting = { isTrustedFolder: () => true };
const workspace = { getDirectories: () => [process.cwd()] };

function clientOf(name: string, config: MCPServerConfig) {
  const [tools, prompts] = [new ToolRegistry(), new PromptRegistry()];
  return { tools, prompts, client: new McpClient(name, config, tools, prompts, workspace, false) };
}

test("connects, fills the registries, reads, and takes everything out again", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("library.json", {
    tools: [{ name: "lend", inputSchema: { type: "object" } }],
    prompts: [{ name: "summary", arguments: [{ name: "of", required: true }, { required: true }] }],
    results: { summary: { messages: [{ role: "user", content: { type: "text", text: "Sum it up." } }] } },
    resources: [{ uri: "book:1", name: "One" }],
    contents: { "book:1": [{ uri: "book:1", text: "Once" }] },
  });
  const { tools, prompts, client } = clientOf("books", { ...stdioServer("library", file), trust: true });
  const seen: string[] = [];
  client.onUpdate(() => seen.push(client.getStatus()));
  expect(client.getStatus()).toBe("disconnected");
  await client.connect();
  expect(tools.getAllTools()).toEqual([]);
  await client.discover(trusting);
  expect(tools.getAllTools().map(({ name, serverName, trust }) => [name, serverName, trust])).toEqual([
    ["lend", "books", true],
  ]);
  expect(await tools.getTool("lend")?.shouldConfirmExecute({})).toBe(false);
  const [prompt] = prompts.getAllPrompts();
  expect(prompt).toMatchObject({ name: "summary", serverName: "books", arguments: [{ name: "of", required: true }] });
  expect(await prompt?.invoke({ of: "it" })).toMatchObject({ messages: [{ content: { text: "Sum it up." } }] });
  expect(client.filteredCatalog?.catalog.resources).toMatchObject([{ uri: "book:1" }]);
  expect(await client.readResource("book:1")).toMatchObject({ contents: [{ text: "Once" }] });
  expect(await client.getPrompt("summary")).toMatchObject({ messages: [{ role: "user" }] });
  expect(await client.callTool("lend", {})).toMatchObject({ isError: false });
  await client.disconnect();
  expect([tools.getAllTools(), prompts.getAllPrompts(), client.filteredCatalog]).toEqual([[], [], undefined]);
  expect([...new Set(seen)]).toEqual(["connecting", "connected", "disconnecting", "disconnected"]);
});

test("connects only while it is disconnected, and can come back with the same lists", async () => {
  const { tools, client } = clientOf("again", stdioServer("well-behaved"));
  for (const _ of [1, 2]) {
    await client.connect();
    await expect(client.connect()).rejects.toMatchObject({ code: "usage", serverName: "again" });
    await client.discover(trusting);
    expect(tools.getAllToolNames()).toEqual(["echo"]);
    await client.disconnect();
    expect(tools.getAllToolNames()).toEqual([]);
  }
});

test("without a configuration the folder is not trusted, so a trusted server's tools ask", async () => {
  const { tools, client } = clientOf("no config", { ...stdioServer("well-behaved"), trust: true });
  await client.connect();
  await client.discover();
  expect(await tools.getTool("echo")?.shouldConfirmExecute({ text: "a" })).not.toBe(false);
  await client.discover({ isTrustedFolder: () => false });
  expect(await tools.getTool("echo")?.shouldConfirmExecute({ text: "a" })).not.toBe(false);
  await client.discover(trusting);
  expect(await tools.getTool("echo")?.shouldConfirmExecute({ text: "a" })).toBe(false);
  await client.disconnect();
});

test("a list that changes is read again, and the registry has its tools", async () => {
  const { tools, client } = clientOf("restless", programServer("restless"));
  await client.connect();
  await client.discover(trusting);
  expect(tools.getAllToolNames()).toEqual(["storm", "count"]);
  const updates = new EventEmitter();
  client.onUpdate(() => updates.emit(String(tools.getAllTools().length)));
  const grown = once(updates, "3");
  await tools.getTool("storm")?.execute({ times: 1 });
  await grown;
  expect(tools.getAllToolNames()).toEqual(["storm", "count", "late"]);
  await client.disconnect();
});

test("a registry of the program's own needs only to take tools", async () => {
  const taken: string[] = [];
  const own = {
    registerTool: ({ name }: DiscoveredMCPTool) => void taken.push(name),
    registerPrompt: () => {},
  };
  const client = new McpClient("own", stdioServer("well-behaved"), own, own);
  await client.connect();
  await client.discover(trusting);
  await client.disconnect();
  expect(taken).toEqual(["echo"]);
});

test("a listener that throws is an uncaught error, and the client goes on", async () => {
  const uncaught: unknown[] = [];
  const [earlier] = [process.listeners("uncaughtException")];
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => uncaught.push(error.message));
  const { tools, client } = clientOf("careless", stdioServer("well-behaved"));
  client.onUpdate(() => {
    throw new Error("careless");
  });
  await client.connect();
  await client.discover(trusting);
  expect(tools.getAllToolNames()).toEqual(["echo"]);
  await client.disconnect();
  process.removeAllListeners("uncaughtException");
  for (const listener of earlier) process.on("uncaughtException", listener);
  expect(new Set(uncaught)).toEqual(new Set(["careless"]));
});

test("a server that offers nothing is disconnected, and the error says so", async () => {
  const { client } = clientOf("empty", programServer("nothing"));
  await client.connect();
  await expect(client.discover(trusting)).rejects.toThrow("No prompts, tools, or resources found on the server");
  expect(client.getStatus()).toBe("disconnected");
});

test("includeTools and excludeTools choose the tools", async () => {
  const { client } = clientOf("none", {
    ...stdioServer("counted"),
    includeTools: ["echo", "ask"],
    excludeTools: ["ask"],
  });
  await client.connect();
  const { catalog, hidden } = await client.discover(trusting);
  expect([catalog.tools.map(({ name }) => name), [...hidden]]).toEqual([["echo"], [["ask", "excludeTools"]]]);
  await client.disconnect();
});

test("a server without a working folder starts in the first folder of the workspace", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("where.mjs", `process.stderr.write(process.cwd()); process.exit(3);`);
  const config = { command: process.execPath, args: [file] };
  const client = new McpClient("where", config, new ToolRegistry(), new PromptRegistry(), {
    getDirectories: () => [folder.path],
  });
  await expect(client.connect()).rejects.toMatchObject({
    code: "server_exited",
    evidence: expect.stringContaining(folder.path),
  });
});

test("in debug mode the server's messages and stderr are written to stderr", async () => {
  const written: string[] = [];
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text) => written.push(String(text)) > 0;
  try {
    const config = programServer("exits", "3", "no key");
    const client = new McpClient("loud", config, new ToolRegistry(), new PromptRegistry(), workspace, true);
    await expect(client.connect()).rejects.toMatchObject({ code: "server_exited" });
  } finally {
    process.stderr.write = write;
  }
  expect(written.join("")).toContain("[loud] stderr: no key\n");
  expect(written.join("")).toMatch(/^\[loud\] wire: .*initialize/m);
});

test("the status of a server is known by its name in the whole process, with every change", async () => {
  const changes: [string, string][] = [];
  const listener = (server: string, status: string): void => void changes.push([server, status]);
  addMCPStatusChangeListener(listener);
  const { client } = clientOf("by name", stdioServer("well-behaved"));
  expect(getMCPServerStatus("by name")).toBe("disconnected");
  await client.connect();
  expect(getMCPServerStatus("by name")).toBe("connected");
  await client.disconnect();
  removeMCPStatusChangeListener(listener);
  await client.connect();
  await client.disconnect();
  expect(changes).toEqual(
    ["connecting", "connected", "disconnecting", "disconnected"].map((status) => ["by name", status]),
  );
});

describe("the arguments", () => {
  const good: readonly unknown[] = ["s", { command: "x" }, new ToolRegistry(), new PromptRegistry(), workspace, false];
  const make = (...list: readonly unknown[]): unknown => Reflect.construct(McpClient, list);
  test.each<[string, number, unknown]>([
    ["serverName", 0, 5],
    ["serverConfig", 1, "x"],
    ["toolRegistry", 2, {}],
    ["promptRegistry", 3, undefined],
    ["workspaceContext", 4, "/"],
    ["workspaceContext", 4, { getDirectories: () => "/" }],
    ["debugMode", 5, "no"],
  ])("a wrong %s is a mistake of the program", (parameter, at, given) => {
    expect(() => make(...good.with(at, given))).toThrow(
      expect.objectContaining({ name: "HostError", code: "usage", message: expect.stringContaining(parameter) }),
    );
  });

  test.each([[[]], [["s"]], [["s", { command: "x" }]], [[{}]], [[{ open: () => {} }]], [[undefined]]])(
    "%j are too few",
    (list) => {
      expect(() => make(...list)).toThrow(expect.objectContaining({ name: "HostError", code: "usage" }));
    },
  );

  test("those of the methods are checked too", async () => {
    const { client } = clientOf("s", { command: "x" });
    const wrong = [
      client.discover({} as typeof trusting),
      client.readResource(1 as unknown as string),
      client.callTool("t", undefined as unknown as JsonObject),
      client.getPrompt(undefined as unknown as string),
      client.complete(undefined as unknown as JsonObject),
    ];
    for (const each of wrong) await expect(each).rejects.toMatchObject({ name: "HostError", code: "usage" });
    expect(() => client.onUpdate(1 as unknown as () => void)).toThrow('"listener" must be a function, not a number');
    expect(() => addMCPStatusChangeListener(1 as unknown as () => void)).toThrow('"listener" must be');
    expect(() => getMCPServerStatus(1 as unknown as string)).toThrow('"serverName" must be');
  });
});

describe("createMcpClient", () => {
  test("makes a client without registries, whose tools can be built by hand, registered and run", async () => {
    const client = createMcpClient("s", stdioServer("well-behaved"));
    const manager = new McpClientManager({ servers: [{ client }] });
    await manager.discoverAllMcpTools();
    expect(client.getStatus()).toBe("connected");
    const mcpTool = mcpToTool(client);
    const { functionDeclarations = [] } = await mcpTool.tool();
    const registry = new ToolRegistry();
    for (const { name = "", description = "", parametersJsonSchema } of functionDeclarations)
      registry.registerTool(new DiscoveredMCPTool(mcpTool, client.name, name, description, parametersJsonSchema, 1000));
    expect(await registry.getTool("echo")?.execute({ text: "hello" })).toMatchObject({ returnDisplay: "hello" });
    expect(client.filteredCatalog?.offer.tools).toBe(1);
    await manager.stop();
    expect(client.getStatus()).toBe("disconnected");
  });

  test.each<[MCPServerConfig, string]>([
    [{ command: "$NO_SUCH_VARIABLE_HERE" }, "variable_unset"],
    [{ command: "x", disabled: true }, "usage"],
  ])("%j cannot be connected", async (config, code) => {
    await expect(createMcpClient("s", config).connect()).rejects.toMatchObject({ code, serverName: "s" });
  });
});
