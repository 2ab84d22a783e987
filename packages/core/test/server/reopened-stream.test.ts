/** A legacy server on the web whose stream for notifications breaks: changes meanwhile were not reported. */

import type { ServerResponse } from "node:http";
import { temporaryFolder, type WebReply, webServer } from "@fairlead/test-servers";
import { connect } from "@fairlead/wire";
import { expect, test } from "vitest";
import { createHost } from "../../src/index.ts";
import { Connection } from "../../src/server/connection.ts";

interface Message {
  readonly id?: number;
  readonly method: string;
}

/** A server whose tools and streams a test holds in its hand. */
async function legacyServer(capabilities: object) {
  const tools = ["first"];
  const listed: string[] = [];
  const streams: ServerResponse[] = [];
  let opened: () => void = () => {};
  const results: Readonly<Record<string, () => object>> = {
    initialize: () => ({ protocolVersion: "2025-06-18", capabilities, serverInfo: { name: "s", version: "1" } }),
    "tools/list": () => ({ tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })) }),
    "prompts/list": () => ({ prompts: [{ name: "p" }] }),
  };
  const reply: WebReply = ({ method, body }, response) => {
    if (method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("retry: 1\n\n");
      streams.push(response);
      return opened();
    }
    if (method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(body) as Message;
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method.endsWith("/list")) listed.push(message.method);
    const result = results[message.method]?.();
    const answer = result ? { result } : { error: { code: -32601, message: "no such method" } };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer }));
  };
  const server = await webServer(reply);
  return {
    ...server,
    tools,
    listed,
    streams,
    /** Resolves when the client opens its next stream. */
    nextStream: () =>
      new Promise<void>((resolve) => {
        opened = resolve;
      }),
  };
}

async function followed(origin: string, onCatalog: () => void) {
  const client = new Connection(
    {
      definition: { name: "s", excludeTools: [] },
      open: ({ signal, onReopened }) =>
        connect(
          { kind: "http", url: `${origin}/mcp`, headers: {} },
          {
            clientInfo: { name: "test", version: "1" },
            era: "legacy",
            proxyFor: () => undefined,
            signal,
            ...(onReopened && { onReopened }),
          },
        ),
      connectTimeout: 30_000,
      onState: onCatalog,
    },
    { follow: true },
  );
  await client.connect();
  return client;
}

test.each(["end", "reset"] as const)(
  "after the stream's %s the lists are read again that may have changed",
  async (how) => {
    await using server = await legacyServer({ tools: { listChanged: true }, prompts: {} });
    let changed: () => void = () => {};
    const first = server.nextStream();
    const client = await followed(server.origin, () => changed());
    await client.discover();
    await first;
    expect(server.listed.toSorted()).toEqual(["prompts/list", "tools/list"]);
    server.tools.push("second");
    const seen = new Promise<void>((resolve) => {
      changed = () => {
        if (client.filteredCatalog?.catalog.tools.length === 2) resolve();
      };
    });
    const [stream] = server.streams;
    if (how === "end") stream?.end();
    else stream?.destroy();
    await seen;
    expect(client.filteredCatalog?.catalog.tools.map(({ name }) => name)).toEqual(["first", "second"]);
    // Its prompts never change, as it says.
    expect(server.listed).toEqual(expect.arrayContaining(["tools/list"]));
    expect(server.listed.filter((method) => method === "prompts/list")).toHaveLength(1);
    await client.disconnect();
  },
);

test("a host reports the tools that came while the stream was cut", async () => {
  await using server = await legacyServer({ tools: { listChanged: true }, prompts: {} });
  await using folder = await temporaryFolder();
  const home = folder.path;
  await using host = await createHost({
    environment: { env: { HOME: home }, home, cwd: home, platform: process.platform },
    settings: { mcpServers: { s: { httpUrl: `${server.origin}/mcp` } } },
  });
  const first = server.nextStream();
  await host.start();
  await first;
  server.tools.push("second");
  const changed = new Promise((resolve) => host.on("catalog", resolve));
  server.streams[0]?.end();
  expect(await changed).toMatchObject({ server: "s", lists: ["tools"], tools: { added: ["second"] } });
});
