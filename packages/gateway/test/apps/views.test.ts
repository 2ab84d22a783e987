import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { allowAll, type GatewayScene, gatewayScene, type SceneOptions } from "../support/gateway-scene.ts";

const view = "ui://p/a.html";
const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
const askAll = '[[rule]]\ntoolName = "*"\nmcpName = "*"\ndecision = "ask_user"\npriority = 500\n';

interface Scene extends GatewayScene {
  /** What the server's view is from now on. */
  change(content: object): Promise<void>;
}

async function scene(folder: TemporaryFolder, more: Partial<SceneOptions> = {}): Promise<Scene> {
  const change = async (content: object): Promise<void> => void (await folder.write("view.json", content));
  await change({});
  const servers = { v: stdioServer("views", "legacy", join(folder.path, "view.json")) };
  return { ...(await gatewayScene({ servers, rules: askAll, ...more })), change };
}

/** A client with views that answers questions in a form. Returns what it was asked. */
async function opened(here: GatewayScene, decision: string) {
  const asked: string[] = [];
  const client = await here.client({
    era: "legacy",
    capabilities: { extensions, elicitation: { form: {} } },
    answer: async (_method, params) => {
      asked.push(String(params["message"]));
      return { action: "accept", content: { decision } };
    },
  });
  await client.request("tools/list");
  return { client, asked };
}

interface Requester {
  request(method: string, params?: JsonObject): Promise<JsonObject>;
}

async function read(client: Requester): Promise<unknown> {
  const { contents } = await client.request("resources/read", { uri: view });
  return (contents as readonly JsonObject[])[0]?.["text"];
}

const refused = { evidence: { rpc: { code: -32010 } } };

test("the view of a tool that the client may be offered is read without a question", async () => {
  await using folder = await temporaryFolder();
  await using here = await scene(folder);
  const { client, asked } = await opened(here, "no");
  expect(await read(client)).toBe("<p>views</p>");
  expect(await read(client)).toBe("<p>views</p>");
  expect(asked).toEqual([]);
  await expect(client.request("resources/read", { uri: "ui://p/other.html" })).rejects.toMatchObject(refused);
  expect(asked).toHaveLength(1);
});

test.each([
  ["its page", { html: "<p>views</p><script>steal()</script>" }, "<script>steal()</script>"],
  ["the domains that it may reach", { meta: { csp: { connectDomains: ["https://evil.example"] } } }, "evil.example"],
  ["its MIME type", { mimeType: "text/plain" }, "text/plain"],
])("a view that has changed %s is shown only after a yes, which holds in later runs", async (_, content, shown) => {
  await using folder = await temporaryFolder();
  await using first = await scene(folder);
  const before = await opened(first, "no");
  await read(before.client);
  await first.change(content);
  await expect(read(before.client)).rejects.toMatchObject(refused);
  expect(before.asked).toEqual([expect.stringContaining(shown)]);
  await first.change({});
  expect(await read(before.client)).toBe("<p>views</p>");
  await before.client.close();
  await first.gateway[Symbol.asyncDispose]();

  await using second = await scene(folder, { home: first.home, work: first.workspace.cwd });
  await second.change(content);
  const after = await opened(second, "once");
  expect(await read(after.client)).toEqual(expect.any(String));
  expect(after.asked).toEqual([expect.stringContaining(shown)]);
  await read(after.client);
  await second.change({});
  await read(after.client);
  expect(after.asked).toHaveLength(1);
});

test("a view cannot be replaced by another address of the same tool", async () => {
  await using folder = await temporaryFolder();
  await using here = await scene(folder);
  const { client, asked } = await opened(here, "no");
  await read(client);
  await client.close();
  await here.gateway[Symbol.asyncDispose]();
  await using second = await scene(folder, { home: here.home, work: here.workspace.cwd });
  await second.change({ uri: "ui://p/b.html", html: "<p>other</p>" });
  const other = await opened(second, "no");
  await expect(other.client.request("resources/read", { uri: "ui://p/b.html" })).rejects.toMatchObject(refused);
  expect(asked).toEqual([]);
  expect(other.asked).toEqual([expect.stringContaining("<p>other</p>")]);
});

test("the view of a tool that is denied is denied, whatever the rules for resources say", async () => {
  const deny = (tool: string): string =>
    `[[rule]]\ntoolName = "${tool}"\nmcpName = "v"\ndecision = "deny"\npriority = 900\n`;
  const reads = '[[rule]]\nmcpName = "*"\nkind = "resource"\ndecision = "allow"\npriority = 500\n';
  await using folder = await temporaryFolder();
  await using here = await scene(folder, { rules: deny("show") + deny("poll") + reads });
  const { client } = await opened(here, "once");
  await expect(read(client)).rejects.toMatchObject(refused);
  await here.setRules(deny("show") + reads);
  expect(await read(client)).toBe("<p>views</p>");
});

test("a rule of the user for resources counts for views, too", async () => {
  const rules = '[[rule]]\nmcpName = "*"\nkind = "resource"\ndecision = "deny"\npriority = 500\n';
  await using folder = await temporaryFolder();
  await using here = await scene(folder, { rules });
  const { client } = await opened(here, "once");
  await expect(read(client)).rejects.toMatchObject(refused);
});

test("a very large view is compared like any other, and the question stays short", async () => {
  await using folder = await temporaryFolder();
  await using here = await scene(folder);
  const { client, asked } = await opened(here, "once");
  await here.change({ html: "<p>12345678</p>\n", times: 1_250_000 });
  expect(String(await read(client))).toHaveLength(20_000_000);
  await here.change({ html: "<p>12345679</p>\n", times: 1_250_000 });
  expect(String(await read(client))).toHaveLength(20_000_000);
  expect(asked).toHaveLength(1);
  expect(asked[0]?.length).toBeLessThan(20_000);
});

test("the history says that a view was read as part of its tool", async () => {
  await using folder = await temporaryFolder();
  await using here = await scene(folder);
  const { client } = await opened(here, "no");
  await read(client);
  await client.close();
  await here.gateway[Symbol.asyncDispose]();
  const files = (await readdir(here.state, { recursive: true })).filter((name) => name.endsWith(".jsonl"));
  const texts = await Promise.all(files.map((name) => readFile(join(here.state, name), "utf8")));
  expect(texts.join("")).toContain("the view of a tool is part of the tool");
});

test("tools for views are seen by clients with views only, and no search finds them", async () => {
  await using folder = await temporaryFolder();
  await using here = await scene(folder, {
    rules: allowAll,
    fairlead: { clients: { tester: { toolBudget: { tools: 2 } } } },
  });
  const names = async (client: Requester): Promise<readonly unknown[]> =>
    ((await client.request("tools/list"))["tools"] as readonly JsonObject[]).map(({ name }) => name);
  const poll = { name: "poll", arguments: {} };
  const { client } = await opened(here, "no");
  expect(await client.request("tools/call", poll)).toMatchObject({ content: [{ text: "views poll" }] });
  const found = await client.request("tools/call", { name: "search_tools", arguments: { queries: ["poll"] } });
  expect(JSON.stringify(found)).not.toContain('\\"poll\\"');
  // A model writes the calls of call_tool.
  expect(await client.request("tools/call", { name: "call_tool", arguments: { name: "poll" } })).toMatchObject({
    isError: true,
    content: [{ text: "the tool poll is not for models: only views of its server (MCP Apps) may call it" }],
  });
  for (const only of [undefined, "v"]) {
    const plain = await here.client({ era: "legacy", ...(only && { only }) });
    expect(await names(plain)).not.toContain("poll");
    await expect(plain.request("tools/call", poll)).rejects.toThrow('there is no tool "poll"');
  }
});
