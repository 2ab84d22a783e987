import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { stdioServer, temporaryFolder, workshop } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { allowAll, gatewayScene } from "../support/gateway-scene.ts";
import { officialClient } from "../support/official-client.ts";

/** Passes connections on to `url`, and counts them. */
async function countingProxy(url: string): Promise<AsyncDisposable & { readonly url: string; opened(): number }> {
  let opened = 0;
  const server: Server = createServer((socket) => {
    opened += 1;
    const upstream = connect(Number(new URL(url).port), "127.0.0.1");
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    url: url.replace(new URL(url).port, String(port)),
    opened: () => opened,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

test.each(["legacy", "modern"] as const)(
  "a call of a %s client that a rule denies by name opens no connection to its server",
  async (era) => {
    await using shop = await workshop("modern", "http");
    await using proxy = await countingProxy(shop.url ?? "");
    const servers = { shop: { httpUrl: proxy.url } };
    await using first = await gatewayScene({ servers });
    {
      await using window = await officialClient(first, era);
      expect((await window.client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    }
    await first.gateway[Symbol.asyncDispose]();
    // A new gateway with the same home lists the tools from the cache.
    await using here = await gatewayScene({ servers, home: first.home });
    await using window = await officialClient(here, era);
    await window.client.listTools();
    await here.setRules(
      `${allowAll}\n[[rule]]\ntoolName = "echo"\nmcpName = "shop"\ndecision = "deny"\npriority = 900\n`,
    );
    const before = proxy.opened();
    const refusal = await window.client
      .callTool({ name: "echo", arguments: { text: "hi" } })
      .catch(({ message }: Error) => ({ message }));
    expect(JSON.stringify(refusal)).toMatch(/denied/);
    expect(proxy.opened()).toBe(before);
    expect(shop.notes()).toEqual([]);
  },
);

const denies = (conditions: string): string =>
  `${allowAll}\n[[rule]]\n${conditions}\ndecision = "deny"\npriority = 900\n`;

test.for([
  ["tools/call", "legacy", { name: "echo", arguments: {} }, 'toolName = "echo"\nmcpName = "s"'],
  ["tools/call", "modern", { name: "echo", arguments: {} }, 'mcpName = "s"'],
  ["tools/call", "legacy", { name: "s__echo", arguments: {} }, 'mcpName = "s"'],
  ["prompts/get", "legacy", { name: "greet" }, 'kind = "prompt"\nmcpName = "s"'],
  ["prompts/get", "modern", { name: "greet" }, 'kind = "prompt"\nmcpName = "s"'],
  ["resources/read", "legacy", { uri: "test://a" }, 'kind = "resource"\nmcpName = "s"'],
  [
    "completion/complete",
    "legacy",
    { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "a", value: "" } },
    'kind = "prompt"\nmcpName = "s"',
  ],
] as const)(
  "%s of a %s client that a rule denies by name starts no server whose tools are not known: %j, %s",
  async ([method, era, params, conditions]) => {
    await using folder = await temporaryFolder();
    const notes = join(folder.path, "notes");
    await using here = await gatewayScene({
      servers: { s: stdioServer("counted", notes) },
      rules: denies(conditions),
    });
    const client = await here.client({ era });
    const outcome = await client.request(method, params).catch(({ message }: Error) => ({ message }));
    expect(JSON.stringify(outcome)).toMatch(/denied/);
    expect(existsSync(notes)).toBe(false);
  },
);

test("a call that a rule denies at one of two unknown servers starts only the other", async () => {
  await using folder = await temporaryFolder();
  const notes = (name: string): string => join(folder.path, name);
  await using here = await gatewayScene({
    servers: { denied: stdioServer("counted", notes("denied")), other: stdioServer("counted", notes("other")) },
    rules: denies('mcpName = "denied"'),
  });
  const client = await here.client({ era: "legacy" });
  expect(JSON.stringify(await client.request("tools/call", { name: "echo", arguments: { text: "hi" } }))).toContain(
    "hi",
  );
  expect([existsSync(notes("denied")), existsSync(notes("other"))]).toEqual([false, true]);
});

test("after a reload replaced a server, a call that a rule denies by name does not start it", async () => {
  await using folder = await temporaryFolder();
  const notes = (name: string): string => join(folder.path, name);
  const entry = (name: string) => stdioServer("counted", notes(name));
  await using here = await gatewayScene({ servers: { s: entry("before"), other: stdioServer("conformance") } });
  const client = await here.client({ era: "legacy" });
  expect(JSON.stringify(await client.request("tools/list"))).toContain('"echo"');
  await here.setRules(denies('toolName = "echo"\nmcpName = "s"'));
  const told = new Promise<void>((resolve) => {
    client.onNotification((method) => method === "notifications/prompts/list_changed" && resolve());
  });
  await here.setSettings({ mcpServers: { s: entry("after"), other: stdioServer("conformance") } });
  await told;
  const refused = await client.request("tools/call", { name: "echo", arguments: {} });
  expect(JSON.stringify(refused)).toContain("denied");
  expect(existsSync(notes("after"))).toBe(false);
});
