import { realServer, stdioServer, temporaryFolder } from "@fairlead/test-servers";
import type { Era, JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { passedOnExtensions } from "../../src/bridge/extensions.ts";
import { type GatewayScene, gatewayScene, type SceneOptions } from "../support/gateway-scene.ts";

const ui = "io.modelcontextprotocol/ui";
const declaration = { mimeTypes: ["text/html;profile=mcp-app"] };
const capabilities = { extensions: { [ui]: declaration, "com.example/other": { a: 1 } } };

async function scene(server: Era, more: Partial<SceneOptions> = {}): Promise<GatewayScene> {
  const folder = await temporaryFolder();
  await folder.write("view.json", {});
  const here = await gatewayScene({
    servers: { v: stdioServer("views", server, `${folder.path}/view.json`) },
    ...more,
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

async function declared(client: Requester, _meta: JsonObject = {}): Promise<JsonObject> {
  const { content } = await client.request("tools/call", { name: "declared", arguments: {}, _meta });
  return JSON.parse((content as readonly { readonly text: string }[])[0]?.text ?? "");
}

async function tools(client: Requester): Promise<readonly unknown[]> {
  return ((await client.request("tools/list"))["tools"] as readonly JsonObject[]).map(({ name, _meta }) => [
    name,
    (_meta as { ui?: JsonObject } | undefined)?.ui?.["resourceUri"],
  ]);
}

const pairs = (["legacy", "modern"] as const).flatMap((client) =>
  (["legacy", "modern"] as const).map((server) => [client, server] as const),
);

test.each(pairs)(
  "the extensions of a %s client reach a %s server, and no other client's requests",
  async (era, server) => {
    await using here = await scene(server);
    const plain = await here.client({ era });
    const before = await tools(plain);
    const client = await here.client({ era, capabilities });
    expect(await tools(client)).toEqual([
      ["show", "ui://p/a.html"],
      ["poll", "ui://p/a.html"],
      ["declared", undefined],
    ]);
    expect(await declared(client)).toEqual({ extensions: capabilities.extensions });
    expect((await declared(plain))["extensions"] ?? {}).toEqual({});
    if (server === "legacy")
      expect(before).toEqual([
        ["show", undefined],
        ["declared", undefined],
      ]);
    const again = await here.client({ era, capabilities });
    expect(await declared(again)).toEqual({ extensions: capabilities.extensions });
  },
);

test.each(["legacy", "modern"] as const)(
  "a legacy server lists for a %s client what it has for sampling, and for no other client",
  async (era) => {
    await using here = await gatewayScene({ servers: { everything: realServer("everything") } });
    const names = async (client: Requester): Promise<string> => JSON.stringify(await tools(client));
    const plain = await here.client({ era });
    expect(await names(plain)).not.toContain("trigger-sampling-request");
    const client = await here.client({ era, capabilities: { sampling: {} } });
    expect(await names(client)).toContain("trigger-sampling-request");
    expect(await names(plain)).not.toContain("trigger-sampling-request");
  },
);

test("a client that calls a tool without having listed it gets its extensions to the server", async () => {
  await using here = await scene("legacy");
  const client = await here.client({ era: "legacy", capabilities });
  expect(await declared(client)).toEqual({ extensions: capabilities.extensions });
});

test("a server that each client has for itself learns of the client's extensions", async () => {
  await using here = await scene("legacy", { fairlead: { servers: { v: { share: "client" } } } });
  const client = await here.client({ era: "legacy", capabilities });
  const plain = await here.client({ era: "legacy" });
  expect(await tools(client)).toContainEqual(["show", "ui://p/a.html"]);
  expect(await declared(client)).toEqual({ extensions: capabilities.extensions });
  expect(await declared(plain)).toEqual({});
});

test.each(pairs)("a %s client is told that a %s server has views", async (era, server) => {
  await using here = await scene(server);
  const first = await here.client({ era, capabilities });
  await first.request("tools/list");
  const client = await here.client({ era, capabilities });
  expect(client.capabilities["extensions"]).toEqual({ [ui]: {} });
  const only = await here.client({ era, capabilities, only: "v" });
  expect(only.capabilities["extensions"]).toEqual({ [ui]: {} });
});

test("declarations that are too many, too large or malformed are not passed on", () => {
  const pass = (extensions: unknown): unknown => passedOnExtensions({ extensions });
  expect(pass({ [ui]: declaration })).toEqual({ [ui]: declaration });
  expect(pass(undefined)).toBeUndefined();
  expect(pass([declaration])).toBeUndefined();
  expect(pass({ [ui]: "yes", "io.modelcontextprotocol/tasks": {} })).toBeUndefined();
  expect(pass({ a: { x: "y".repeat(3000) }, ["n".repeat(300)]: {}, b: {} })).toEqual({ b: {} });
  expect(pass(JSON.parse('{"__proto__": {"x": 1}}'))).toBeUndefined();
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`e${at}`, {}]));
  expect(Object.keys(pass(many) as object)).toHaveLength(16);
});

test("clients with very many different extensions do not start a server for each", async () => {
  await using here = await scene("legacy");
  const answers: JsonObject[] = [];
  for (let at = 0; at < 10; at += 1) {
    const client = await here.client({ era: "legacy", capabilities: { extensions: { [`e${at}`]: {} } } });
    answers.push(await declared(client));
    await client.close();
  }
  expect(answers.filter(({ extensions }) => extensions !== undefined)).toHaveLength(8);
});

test.each(pairs)(
  "the trace context of a %s client reaches a %s server, baggage only if it may",
  async (era, server) => {
    const _meta = { traceparent: "00-1-2-01", tracestate: "a=b", baggage: "user=ada" };
    const { baggage: _, ...context } = _meta;
    await using strict = await scene(server);
    expect(await declared(await strict.client({ era }), _meta)).toMatchObject(context);
    expect(await declared(await strict.client({ era }), _meta)).not.toHaveProperty("baggage");
    await using open = await scene(server, { fairlead: { servers: { v: { baggage: true } } } });
    expect(await declared(await open.client({ era }), _meta)).toMatchObject(_meta);
  },
);
