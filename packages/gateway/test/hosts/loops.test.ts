import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { stdioServer, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import type { Era, JsonObject, Session } from "@fairlead/wire";
import { expect, test, vi } from "vitest";
import { type GatewayScene, gatewayScene } from "../support/gateway-scene.ts";

const eras = ["legacy", "modern"] as const;

/** A server with the tools `echo` and `ask`, which are listed by these names as long as nothing else has them. */
function bystander(folder: TemporaryFolder, name: string) {
  return stdioServer("counted", join(folder.path, `${name}-notes`));
}

/** Changes the settings while the gateway runs, because only then its address is known. */
async function addEntries(scene: GatewayScene, mcpServers: Readonly<Record<string, object>>): Promise<void> {
  await scene.setSettings({ mcpServers });
  await vi.waitFor(
    () => {
      const names = scene.gateway.status().servers.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(Object.keys(mcpServers)));
    },
    { timeout: 30_000 },
  );
}

async function toolsOf(client: Session): Promise<readonly unknown[]> {
  const { tools } = await client.request("tools/list");
  return (tools as readonly JsonObject[]).map(({ name }) => name);
}

/** Checks that a request to the entry fails with its name and the reason. */
async function refusedAt(scene: GatewayScene, only: string, era: Era = "legacy"): Promise<void> {
  const client = await scene.client({ era, only });
  await expect(client.request("tools/call", { name: "echo", arguments: {} })).rejects.toMatchObject({
    message: `"${only}" leads back to this gateway: it would be a server of itself`,
    evidence: { rpc: { data: { next: `Remove "${only}" from mcpServers in settings.json.` } } },
  });
}

test.for(eras)("an entry that is the gateway itself is refused by name, for a %s client", async (era) => {
  await using folder = await temporaryFolder();
  const counted = bystander(folder, "one");
  await using here = await gatewayScene({ servers: { counted } });
  await addEntries(here, { counted, self: { httpUrl: here.url }, part: { httpUrl: `${here.url}/counted` } });
  const client = await here.client({ era });
  expect(await toolsOf(client)).toEqual(["echo", "ask"]);
  expect(await client.request("tools/call", { name: "echo", arguments: { text: "hello" } })).toMatchObject({
    content: [{ text: "hello" }],
  });
  for (const only of ["self", "part"]) await refusedAt(here, only, era);
});

test("a gateway of the same installation in another process is this gateway too", async () => {
  await using folder = await temporaryFolder();
  const [home, work] = [join(folder.path, "home"), join(folder.path, "work")];
  const counted = bystander(folder, "one");
  await using lower = await gatewayScene({ servers: { counted }, home, work });
  await using upper = await gatewayScene({ servers: { counted, other: { httpUrl: lower.url } }, home, work });
  expect(await toolsOf(await upper.client({ era: "modern" }))).toEqual(["echo", "ask"]);
  await refusedAt(upper, "other");
});

/** A proxy that passes requests on, but not the members of `_meta` that it does not know. */
async function forgetfulProxy(url: () => string) {
  const known = (text: string): string => text.replaceAll(/"fairlead\/gateways":\[[^\]]*\],?/g, "");
  async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host: _, "content-length": _length, connection: _connection, ...headers } = request.headers;
    const body = known(await textOf(request));
    const answer = await fetch(url(), { method: "POST", headers: headers as Record<string, string>, body });
    const text = known(await answer.text());
    const session = answer.headers.get("mcp-session-id");
    response.writeHead(answer.status, {
      "content-type": answer.headers.get("content-type") ?? "application/json",
      ...(session !== null && { "mcp-session-id": session }),
    });
    response.end(text);
  }

  const server = createServer((request, response) => {
    if (request.method !== "POST") response.writeHead(405).end();
    else passOn(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

test.for(eras)(
  "a gateway behind a program that leaves out _meta is refused, for a %s client: it may be the gateway itself",
  async (era) => {
    await using folder = await temporaryFolder();
    const counted = bystander(folder, "one");
    let address = "";
    await using proxy = await forgetfulProxy(() => address);
    await using here = await gatewayScene({ servers: { self: { httpUrl: proxy.url }, counted } });
    address = here.url;
    const client = await here.client({ era });
    expect(await toolsOf(client)).toEqual(["echo", "ask"]);
    const own = await here.client({ era, only: "self" });
    await expect(own.request("tools/call", { name: "echo", arguments: {} })).rejects.toThrow(
      '"self" is a Fairlead gateway behind a program that leaves out _meta, so Fairlead cannot tell whether it leads back to this gateway',
    );
    expect(await toolsOf(client)).toEqual(["echo", "ask"]);
  },
);

test.for(eras)("the gateway of another installation is a server like others, for a %s client", async (era) => {
  await using folder = await temporaryFolder();
  await using lower = await gatewayScene({ servers: { counted: bystander(folder, "lower") } });
  await using upper = await gatewayScene({
    servers: { counted: bystander(folder, "upper"), team: { httpUrl: lower.url } },
  });
  const client = await upper.client({ era });
  expect(await toolsOf(client)).toEqual(["echo", "ask", "team__echo", "team__ask"]);
  expect(await client.request("tools/call", { name: "team__echo", arguments: { text: "hello" } })).toMatchObject({
    content: [{ text: "hello" }],
  });
});

test("of two gateways with each other as a server, the first one that is used gets the other's tools, and no loop", async () => {
  await using folder = await temporaryFolder();
  const counted = bystander(folder, "one");
  await using one = await gatewayScene({ servers: { counted } });
  await using two = await gatewayScene({ servers: { counted } });
  await addEntries(one, { counted, two: { httpUrl: two.url } });
  await addEntries(two, { counted, one: { httpUrl: one.url } });
  const first = await one.client({ era: "modern" });
  expect(await toolsOf(first)).toEqual(["echo", "ask", "two__echo", "two__ask"]);
  const second = await two.client({ era: "modern" });
  expect(await toolsOf(second)).toEqual(["echo", "ask"]);
  await refusedAt(two, "one");
  expect(await toolsOf(first)).toEqual(["echo", "ask", "two__echo", "two__ask"]);
});

test("two gateways that use one server of each other are not a loop", async () => {
  await using folder = await temporaryFolder();
  const counted = bystander(folder, "one");
  await using one = await gatewayScene({ servers: { counted } });
  await using two = await gatewayScene({ servers: { counted } });
  await addEntries(one, { counted, two: { httpUrl: `${two.url}/counted` } });
  await addEntries(two, { counted, one: { httpUrl: `${one.url}/counted` } });
  expect(await toolsOf(await one.client({ era: "modern" }))).toEqual(["echo", "ask", "two__echo", "two__ask"]);
  expect(await toolsOf(await two.client({ era: "modern" }))).toEqual(["echo", "ask", "one__echo", "one__ask"]);
});
