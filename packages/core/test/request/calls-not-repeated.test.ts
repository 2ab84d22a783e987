/** A call whose response proves nothing is never sent again; reads are. */

import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { behaves, temporaryFolder, type WebReply, webServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createHost, type Host } from "../../src/index.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
}

const text = { contents: [{ uri: "test://a", text: "read" }] };
const results = new Map<string, object>([
  [
    "initialize",
    {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, resources: {}, prompts: {} },
      serverInfo: { name: "test", version: "1.0.0" },
    },
  ],
  [
    "tools/list",
    {
      tools: [
        { name: "pay", inputSchema: { type: "object" } },
        { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
      ],
    },
  ],
  ["resources/list", { resources: [{ uri: "test://a", name: "a" }] }],
  ["prompts/list", { prompts: [{ name: "p" }] }],
  ["resources/read", text],
  ["prompts/get", { messages: [{ role: "user", content: { type: "text", text: "hi" } }] }],
  ["tools/call", { content: [{ type: "text", text: "done" }] }],
]);

/** A server that answers `method` the first time with `spoilt`, after it has run it. `runs` counts how often that was. */
function spoiling(method: string, spoilt: WebReply): { readonly reply: WebReply; readonly runs: () => number } {
  let runs = 0;
  const reply: WebReply = (request, response) => {
    // The cut stream's resumption.
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(request.body) as Message;
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method === method) {
      runs += 1;
      if (runs === 1) return spoilt(request, response);
    }
    const result = results.get(message.method ?? "");
    if (!result) return behaves(request, response);
    answer(response, { jsonrpc: "2.0", id: message.id, result });
  };
  return { reply, runs: () => runs };
}

function answer(response: ServerResponse, message: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message));
}

function status(code: number, body = "", headers: Readonly<Record<string, string>> = {}): WebReply {
  return (_, response) => void response.writeHead(code, headers).end(body);
}

const busyError = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"busy"}}';
const cutStream: WebReply = (_, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end("id: 1\nretry: 1\ndata:\n\n");
};

const spoilt: readonly [string, WebReply][] = [
  ["503 with Retry-After", status(503, "", { "retry-after": "0" })],
  ["429 with Retry-After", status(429, "", { "retry-after": "0" })],
  ["503 with a JSON-RPC error", status(503, busyError, { "retry-after": "0", "content-type": "application/json" })],
  ["429", status(429)],
  ["425", status(425)],
  ["a 301", status(301, "", { location: "/mcp" })],
  ["a 302", status(302, "", { location: "/mcp" })],
  ["a 303", status(303, "", { location: "/mcp" })],
  ["a 307", status(307, "", { location: "/mcp" })],
  ["a 308 to another origin", status(308, "", { location: "http://127.0.0.2:1/mcp" })],
  ["an empty 200", status(200)],
  ["an empty 200 with the type JSON", status(200, "", { "content-type": "application/json" })],
  ["a 202", status(202)],
  ["a cut stream that cannot be resumed", cutStream],
];

async function hostFor(url: string, path: string, trustAnnotations = false): Promise<Host> {
  const env = { PATH: process.env["PATH"], HOME: path, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(path, "none") };
  const environment = { env, home: path, cwd: path, platform: process.platform };
  const mcpServers = { shop: { httpUrl: `${url}/mcp` } };
  const fairlead = { servers: { shop: { trustAnnotations } } };
  return createHost({ environment, trust: true, settings: { mcpServers, fairlead } });
}

describe.each(spoilt)("%s", (_, reply) => {
  test("a call is lost, and is not sent again", async () => {
    await using folder = await temporaryFolder();
    const shop = spoiling("tools/call", reply);
    await using server = await webServer(shop.reply);
    await using host = await hostFor(server.origin, folder.path);
    for (const [index, tool] of ["pay", "look"].entries()) {
      const call = host.call("shop", tool, {});
      if (index === 0)
        await expect(call).rejects.toMatchObject({
          code: "lost",
          message: expect.stringContaining("the request may or may not have run"),
        });
      else expect(await call).toMatchObject({ isError: false });
      expect(shop.runs()).toBe(index + 1);
    }
  });

  test("a read-only call to a server with trusted annotations is sent once more", async () => {
    await using folder = await temporaryFolder();
    const shop = spoiling("tools/call", reply);
    await using server = await webServer(shop.reply);
    await using host = await hostFor(server.origin, folder.path, true);
    expect(await host.call("shop", "look", {})).toMatchObject({ isError: false });
    expect(shop.runs()).toBe(2);
  });
});

test.each([
  ["503 with Retry-After", status(503, "", { "retry-after": "0" })],
  ["429 with Retry-After", status(429, "", { "retry-after": "0" })],
  ["a cut stream that cannot be resumed", cutStream],
] as const)("reads and prompts are repeated after %s", async (_, reply) => {
  await using folder = await temporaryFolder();
  for (const method of ["resources/read", "prompts/get"]) {
    const shop = spoiling(method, reply);
    await using server = await webServer(shop.reply);
    await using host = await hostFor(server.origin, folder.path);
    if (method === "prompts/get") expect((await host.getPrompt("shop", "p")).messages).toHaveLength(1);
    else expect((await host.readResource("shop", "test://a")).contents).toHaveLength(1);
    expect(shop.runs()).toBe(2);
  }
});

test("a call to a server that moved within its origin goes to the new address, once", async () => {
  await using folder = await temporaryFolder();
  const shop = spoiling("none", status(500));
  const calls: string[] = [];
  await using server = await webServer((request, response) => {
    if (request.body.includes('"tools/call"')) calls.push(request.path);
    if (request.path === "/mcp") return void response.writeHead(307, { location: "/mcp/" }).end();
    return shop.reply(request, response);
  });
  await using host = await hostFor(server.origin, folder.path);
  expect(await host.call("shop", "pay", {})).toMatchObject({ isError: false });
  expect(calls).toEqual(["/mcp/"]);
});

test.each([
  ["the response to the call", (id: unknown) => ({ id, result: { content: [{ type: "text", text: "paid" }] } }), 1],
  ["an error for the call", (id: unknown) => ({ id, error: { code: -32000, message: "no such order" } }), 1],
  ["an error for an unknown session", () => ({ id: null, error: { code: -32001, message: "Session not found" } }), 2],
])("a 404 in a session with %s", async (_, body, runs) => {
  await using folder = await temporaryFolder();
  const shop = spoiling("tools/call", (request, response) => {
    const { id } = JSON.parse(request.body) as Message;
    const message = JSON.stringify({ jsonrpc: "2.0", ...body(id) });
    response.writeHead(404, { "content-type": "application/json" }).end(message);
  });
  await using server = await webServer((request, response) => {
    response.setHeader("mcp-session-id", "one");
    return shop.reply(request, response);
  });
  await using host = await hostFor(server.origin, folder.path);
  const outcome = await host.call("shop", "pay", {}).catch((error: unknown) => error);
  const { error, result = { content: [{ text: "done" }] } } = body(1) as { error?: object; result?: object };
  if (error && runs === 1) expect(outcome).toMatchObject({ code: "tool_error" });
  else expect(outcome).toMatchObject({ isError: false, ...result });
  expect(shop.runs()).toBe(runs);
});
