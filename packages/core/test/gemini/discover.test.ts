import { once } from "node:events";
import { programServer, stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, test } from "vitest";
import {
  connectToMcpServer,
  discoverPrompts,
  discoverTools,
  hasValidTypes,
  isEnabled,
  type MCPServerConfig,
  mcpToTool,
  PromptRegistry,
  populateMcpServerCommand,
  type SdkClient,
} from "../../src/gemini/index.ts";

const trusting = { isTrustedFolder: () => true };

async function library() {
  const folder = await temporaryFolder();
  const file = await folder.write("library.json", {
    tools: [{ name: "lend", description: "Lends.", inputSchema: { type: "object" } }, { name: "shelve" }],
    prompts: [{ name: "summary", description: "Sums up.", arguments: [{ name: "of", required: true }] }],
    results: { summary: { messages: [{ role: "user", content: { type: "text", text: "Sum it up." } }] } },
    resources: [{ uri: "book:1", name: "One" }],
    contents: { "book:1": [{ uri: "book:1", text: "Once" }] },
  });
  return { folder, config: stdioServer("library", file) };
}

describe("connectToMcpServer", () => {
  test("gives a client with the SDK's methods", async () => {
    const { folder, config } = await library();
    await using _ = folder;
    const client = await connectToMcpServer("books", config, false, { getDirectories: () => [folder.path] });
    expect(client.getServerCapabilities()).toMatchObject({ tools: {}, prompts: {} });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["lend", "shelve"]);
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: "summary" }]);
    expect((await client.listResources()).resources).toMatchObject([{ uri: "book:1" }]);
    expect(await client.callTool({ name: "lend" })).toEqual({ content: [] });
    expect(await client.getPrompt({ name: "summary", arguments: { of: "it" } })).toMatchObject({ messages: [{}] });
    expect(await client.readResource({ uri: "book:1" })).toEqual({ contents: [{ uri: "book:1", text: "Once" }] });
    await expect(client.readResource({ uri: "book:2" })).rejects.toMatchObject({
      name: "HostError",
      serverName: "books",
    });
    await client.close();
    await expect(client.callTool({ name: "lend" })).rejects.toMatchObject({ name: "HostError" });
  });

  test("a call takes a timeout or a signal, in the place of either version of the SDK", async () => {
    const client = await connectToMcpServer("silent", stdioServer("workshop"));
    const late = { code: "call_timeout", serverName: "silent" };
    await expect(client.callTool({ name: "hang" }, undefined, { timeout: 20 })).rejects.toMatchObject(late);
    await expect(client.callTool({ name: "hang" }, { timeout: 20 })).rejects.toMatchObject(late);
    const stop = new AbortController();
    const call = expect(client.callTool({ name: "hang" }, { signal: stop.signal })).rejects.toMatchObject({
      code: "cancelled",
    });
    stop.abort();
    await call;
    await client.close();
  });

  test("names wrong parameters of a request, and why a server cannot be connected", async () => {
    await expect(connectToMcpServer("s", programServer("exits", "3", "no key"))).rejects.toMatchObject({
      code: "server_exited",
      evidence: "no key",
    });
    const client = await connectToMcpServer("s", stdioServer("well-behaved"));
    const none = undefined as unknown as { name: string; uri: string };
    for (const request of [client.callTool(none), client.getPrompt(none), client.readResource(none)])
      await expect(request).rejects.toMatchObject({ code: "usage", message: expect.stringContaining('"params"') });
    await client.close();
  });
});

describe("discoverTools and discoverPrompts", () => {
  test("read what a connected client offers", async () => {
    const { folder, config } = await library();
    await using _ = folder;
    const client = await connectToMcpServer("books", config);
    const entry: MCPServerConfig = { ...config, trust: true, timeout: 500, excludeTools: ["shelve"] };
    const [tool, ...others] = await discoverTools("books", entry, client, trusting);
    expect(others).toEqual([]);
    expect(tool).toMatchObject({ name: "lend", serverName: "books", description: "Lends.", timeout: 500, trust: true });
    expect(await tool?.shouldConfirmExecute({})).toBe(false);
    expect(await tool?.execute({})).toMatchObject({ returnDisplay: "" });
    const registry = new PromptRegistry();
    const prompts = await discoverPrompts("books", client, registry);
    expect(prompts).toMatchObject([
      { name: "summary", serverName: "books", arguments: [{ name: "of", required: true }] },
    ]);
    expect(registry.getAllPrompts()).toEqual(prompts);
    expect(await prompts[0]?.invoke({ of: "it" })).toMatchObject({ messages: [{ content: { text: "Sum it up." } }] });
    await client.close();
  });

  test("take the official SDK's client too", async () => {
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(
      new StdioClientTransport(programServer("well-behaved") as { command: string; args: string[] }),
    );
    const [tool] = await discoverTools("sdk", {}, client as SdkClient, trusting);
    expect(await tool?.execute({ text: "hello" })).toMatchObject({ returnDisplay: "hello" });
    await client.close();
  });

  test("read all pages, and stop at a server that names pages without end", async () => {
    let pages = 0;
    const client = {
      async listTools() {
        pages += 1;
        return { tools: [{ name: `t${pages}` }, { name: "" }, {}], nextCursor: "more" };
      },
      callTool: async () => ({}),
      listPrompts: async () => ({ prompts: [{}, { name: "p", arguments: [{}, 1, { name: "a" }] }], nextCursor: 1 }),
      getPrompt: async () => ({}),
    };
    expect(await discoverTools("s", {}, client as unknown as SdkClient, trusting)).toHaveLength(1000);
    const prompts = await discoverPrompts("s", client as unknown as SdkClient, new PromptRegistry());
    expect(prompts).toMatchObject([{ name: "p", arguments: [{ name: "a", required: false }] }]);
  });

  test("warn about lists that cannot be read, and return none", async () => {
    const fails = async (): Promise<never> => Promise.reject(new Error("no\u001b[2J route"));
    const client = { listTools: fails, callTool: fails, listPrompts: fails, getPrompt: fails };
    for (const read of [
      () => discoverTools("s", {}, client, trusting),
      () => discoverPrompts("s", client, new PromptRegistry()),
    ]) {
      const warned = once(process, "warning") as Promise<[Error]>;
      expect(await read()).toEqual([]);
      const [{ name, message }] = await warned;
      expect([name, message]).toEqual([
        "McpDiscoveryWarning",
        expect.stringMatching(/^the \w+ of "s" cannot be read: no/),
      ]);
      expect(message).not.toContain("\u001b");
    }
  });
});

describe("mcpToTool", () => {
  test("declares the tools, calls them, and passes a cancelled call on to the server", async () => {
    await using folder = await temporaryFolder();
    const notes = `${folder.path}/notes`;
    const client = await connectToMcpServer("shop", stdioServer("workshop", notes));
    const tool = mcpToTool(client);
    expect((await tool.tool()).functionDeclarations?.map(({ name }) => name)).toContain("echo");
    expect(await tool.callTool([{ id: "1", name: "echo", args: { text: "a" } }])).toEqual([
      { functionResponse: { id: "1", name: "echo", response: { content: [{ type: "text", text: "a" }] } } },
    ]);
    await expect(tool.callTool([{}])).rejects.toMatchObject({ code: "usage" });
    const [hang] = (await discoverTools("shop", {}, client, trusting)).filter(({ name }) => name === "hang");
    const stop = new AbortController();
    const call = expect(hang?.execute({}, stop.signal)).rejects.toMatchObject({ code: "cancelled" });
    stop.abort();
    await call;
    await expect(mcpToTool(client, { timeout: 20 }).callTool([{ name: "hang" }])).rejects.toMatchObject({
      code: "call_timeout",
    });
    await client.close();
    expect(await folder.read("notes")).toMatch(/cancel/);
  });
});

test.each<[string | undefined, MCPServerConfig, boolean]>([
  ["read", {}, true],
  ["read", { includeTools: ["read"] }, true],
  ["read", { includeTools: ["write"] }, false],
  ["read", { includeTools: [] }, false],
  ["read", { includeTools: ["read(path)"] }, true],
  ["read", { excludeTools: ["read"] }, false],
  ["read", { includeTools: ["read"], excludeTools: ["read"] }, false],
  [undefined, {}, false],
  ["", {}, false],
])("whether %j is enabled by %j: %j", (name, config, expected) => {
  expect(isEnabled({ name }, "s", config)).toBe(expected);
});

const endless = {
  type: "array",
  get items(): object {
    return endless;
  },
};
test.each<[string, unknown, boolean]>([
  ["a type", { type: "string" }, true],
  ["no type", {}, false],
  ["no schema", "x", true],
  ["properties with types", { type: "object", properties: { a: { type: "string" } } }, true],
  ["a property without a type", { type: "object", properties: { a: {} } }, false],
  ["items with a type", { type: "array", items: { type: "string" } }, true],
  ["items without a type", { type: "array", items: {} }, false],
  ["no items", { type: "array" }, true],
  ["alternatives", { anyOf: [{ type: "string" }, { type: "number" }] }, true],
  ["an alternative without a type", { anyOf: [{ type: "string" }], allOf: [{}] }, false],
  ["no alternatives at all", { oneOf: [] }, true],
  ["a schema without end", endless, false],
])("a schema has valid types: %s", (_, schema, expected) => {
  expect(hasValidTypes(schema)).toBe(expected);
});

describe("populateMcpServerCommand", () => {
  test("adds the server of a command line, and keeps an entry of its name", () => {
    const files = { files: { command: "a" } };
    expect(populateMcpServerCommand(files, "node 'my server.js' --x")).toEqual({
      ...files,
      mcp: { command: "node", args: ["my server.js", "--x"] },
    });
    for (const none of [undefined, ""]) expect(populateMcpServerCommand(files, none)).toEqual(files);
    const own = { mcp: { command: "b" } };
    expect(populateMcpServerCommand(own, "node x")).toEqual(own);
  });

  test("names a mistake", () => {
    const populate = populateMcpServerCommand as (...given: readonly unknown[]) => unknown;
    expect(() => populate({}, "a | b")).toThrow('"mcpServerCommand" has a mistake at character 3');
    expect(() => populate(undefined, "a")).toThrow('"mcpServers" must be an object, not undefined');
    expect(() => populate({}, 1)).toThrow('"mcpServerCommand" must be a string, not a number');
    expect(() => isEnabled(undefined as unknown as { name: string }, "s", {})).toThrow('"funcDecl" must be');
  });
});
