import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";
import { lineClient } from "../support/line-client.ts";

const inputSchema = { type: "object" };
const view = "ui://p/a.html";
const named = "ui://fairlead.two/p/a.html";

function shows(name: string, uri: string, more: object = {}): object {
  return { name, inputSchema, _meta: { ui: { resourceUri: uri }, "ui/resourceUri": uri, ...more } };
}

/** Servers "one", "two" and so on, each with a catalog. Every result names its server. */
async function scene(catalogs: Readonly<Record<string, object>>): Promise<GatewayScene> {
  const folder = await temporaryFolder();
  for (const [name, catalog] of Object.entries(catalogs)) await folder.write(`${name}.json`, catalog);
  const here = await gatewayScene({
    servers: Object.fromEntries(
      Object.keys(catalogs).map((name) => [name, stdioServer("contender", join(folder.path, `${name}.json`), name)]),
    ),
  });
  return {
    ...here,
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

interface Requester {
  request(method: string, params?: JsonObject): Promise<JsonObject>;
}

async function viewsOf(client: Requester): Promise<Readonly<Record<string, unknown>>> {
  const { tools } = await client.request("tools/list");
  const listed = tools as readonly { name: string; _meta: { ui: JsonObject; "ui/resourceUri": unknown } }[];
  for (const { _meta } of listed) expect(_meta["ui/resourceUri"]).toBe(_meta.ui["resourceUri"]);
  return Object.fromEntries(listed.map(({ name, _meta }) => [name, _meta.ui["resourceUri"]]));
}

/** The address in the result, and the server that was read. */
async function read(client: Requester, uri: string): Promise<readonly unknown[]> {
  const { contents } = await client.request("resources/read", { uri });
  const [part] = contents as readonly JsonObject[];
  return [part?.["uri"], part?.["text"]];
}

const clashing = {
  one: { tools: [shows("show", view)], resources: [{ uri: view, name: "one" }] },
  two: { tools: [shows("open", view)], resources: [{ uri: view, name: "two" }] },
};

test.each(["legacy", "modern"] as const)(
  "two servers with the same view each show their own to a %s client",
  async (era) => {
    await using here = await scene(clashing);
    const client = await here.client({ era });
    expect(await viewsOf(client)).toEqual({ show: view, open: named });
    expect(await read(client, view)).toEqual([view, "one"]);
    expect(await read(client, named)).toEqual([named, "two"]);
    const { resources } = await client.request("resources/list");
    expect((resources as readonly JsonObject[]).map(({ uri, name }) => [uri, name])).toEqual([
      [view, "one"],
      [named, "two"],
    ]);
  },
);

test("a client of one server sees the server's own addresses", async () => {
  await using here = await scene(clashing);
  const only = await here.client({ era: "legacy", only: "two" });
  expect(await viewsOf(only)).toEqual({ open: view });
  expect(await read(only, view)).toEqual([view, "two"]);
  await using chosen = await lineClient(here, "legacy", { name: "x", servers: ["two"] });
  expect(await viewsOf(chosen)).toEqual({ open: view });
  expect(await read(chosen, view)).toEqual([view, "two"]);
});

test("views that no server lists are found by their tools", async () => {
  await using here = await scene({ one: { tools: [shows("show", view)] }, two: { tools: [shows("open", view)] } });
  const client = await here.client({ era: "legacy" });
  expect(await viewsOf(client)).toEqual({ show: view, open: named });
  expect(await read(client, view)).toEqual([view, "one"]);
  expect(await read(client, named)).toEqual([named, "two"]);
});

test("a tool that names another server's view shows no view of that server", async () => {
  const { one } = clashing;
  await using here = await scene({ one, two: { tools: [shows("steal", view)] } });
  const client = await here.client({ era: "legacy" });
  expect(await viewsOf(client)).toMatchObject({ steal: named });
  expect(await read(client, named)).toEqual([named, "two"]);
});

test.each(["UI://p/a.html", "ui://P/a.html", "ui://p/%61.html", "ui://fairlead.one/p/a.html"])(
  "a server's address %s does not pass for the one of another server",
  async (uri) => {
    await using here = await scene({
      one: clashing.one,
      two: { tools: [], resources: [{ uri, name: "two" }] },
    });
    const client = await here.client({ era: "legacy" });
    const { resources } = await client.request("resources/list");
    const [, other] = (resources as readonly JsonObject[]).map((resource) => String(resource["uri"]));
    expect(other).toBe(uri.replace("://", "://fairlead.two/"));
    expect(await read(client, other ?? "")).toEqual([other, "two"]);
    expect(await read(client, view)).toEqual([view, "one"]);
    expect(await read(client, "ui://fairlead.one/p/a.html")).toEqual(["ui://fairlead.one/p/a.html", "one"]);
  },
);

test("an address that names a server leads to no other one: not in another case, and not if the server is gone", async () => {
  const page = { resources: [{ uri: view, name: "view" }] };
  const greedy = { resourceTemplates: [{ uriTemplate: "ui://{+all}", name: "all" }] };
  await using here = await scene({ one: { ...page, ...greedy }, Two: page });
  const client = await here.client({ era: "legacy" });
  await client.request("resources/list");
  await client.request("resources/templates/list");
  expect(await read(client, "ui://fairlead.two/p/a.html")).toEqual(["ui://fairlead.two/p/a.html", "Two"]);
  await expect(read(client, "ui://fairlead.gone/p/a.html")).rejects.toThrow("no configured server lists this resource");
});

test("addresses in results are those that the client uses", async () => {
  const link = { type: "resource_link", uri: view, name: "linked", _meta: { ui: { resourceUri: view } } };
  const embedded = { type: "resource", resource: { uri: view, text: "" } };
  const other = { type: "resource_link", uri: "file:///x", name: "other" };
  const two = {
    ...clashing.two,
    prompts: [{ name: "ask" }],
    shown: { content: [link, embedded, other], messages: [{ role: "user", content: embedded }] },
  };
  await using here = await scene({ one: clashing.one, two });
  const client = await here.client({ era: "legacy" });
  const { content } = await client.request("tools/call", { name: "open", arguments: {} });
  expect(content).toMatchObject([
    { text: "two" },
    { uri: named, _meta: { ui: { resourceUri: named } } },
    { resource: { uri: named } },
    { uri: "file:///x" },
  ]);
  const { messages } = await client.request("prompts/get", { name: "ask" });
  expect(messages).toMatchObject([{}, { content: { resource: { uri: named } } }]);
});

test("ten thousand views of each of two servers are listed, and lead to their servers", async () => {
  const many = { resources: Array.from({ length: 10_000 }, (_, at) => ({ uri: `ui://p/${at}.html`, name: "view" })) };
  await using here = await scene({ one: many, two: many });
  const client = await here.client({ era: "legacy" });
  const { resources } = await client.request("resources/list");
  expect(resources).toHaveLength(20_000);
  expect(await read(client, "ui://p/9999.html")).toEqual(["ui://p/9999.html", "one"]);
  expect(await read(client, "ui://fairlead.two/p/9999.html")).toEqual(["ui://fairlead.two/p/9999.html", "two"]);
});

test("an address with control characters is no view, and leads to its server", async () => {
  const odd = "ui://p/a\u001b[2J\u202e.html";
  const tools = (name: string): object => ({ tools: [shows(name, odd)], resources: [{ uri: odd, name }] });
  await using here = await scene({ one: tools("show"), two: tools("open") });
  const client = await here.client({ era: "legacy" });
  const views = await viewsOf(client);
  expect(views["show"]).toBe(odd);
  expect(await read(client, String(views["show"]))).toEqual([odd, "one"]);
  expect(await read(client, String(views["open"]))).toEqual([views["open"], "two"]);
});
