import { once } from "node:events";
import { connect as openSocket, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/connect.ts";
import { WireError } from "../../src/errors.ts";
import type { HttpLimits } from "../../src/serve/http-limits.ts";
import { type HttpListener, listenHttp } from "../../src/serve/http-listener.ts";
import { type ServedClient, type ServedSession, serveClient } from "../../src/serve/served-session.ts";
import type { Era, JsonObject, Session } from "../../src/session.ts";
import { initialize, post } from "../support/http-post.ts";

/** A server with one tool for each thing that a served session can do. */
function session(client: ServedClient): ServedSession {
  return {
    async request(method, params, { id, signal }) {
      switch (method) {
        case "initialize":
          return {
            protocolVersion: "2025-11-25",
            capabilities: { tools: {} },
            serverInfo: { name: "small", version: "1" },
          };
        case "server/discover":
          return { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, resultType: "complete" };
        case "tools/call":
          return call(String(params["name"]), params);
        default:
          throw new WireError("rpc", `${method} is not here`, { rpc: { code: -32601 } });
      }

      async function call(name: string, { _meta }: JsonObject): Promise<JsonObject> {
        const { progressToken } = _meta as JsonObject;
        if (name === "progress")
          for (const progress of [1, 2]) await client.notify("notifications/progress", { progressToken, progress }, id);
        if (name === "ask")
          return { content: [], answer: await client.request("roots/list", {}, { about: id, signal }) };
        if (name === "wait")
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        return { content: [{ type: "text", text: name }], resultType: "complete" };
      }
    },
  };
}

const clientInfo = { name: "test", version: "1" };

function listen(eras: readonly Era[], limits: Partial<HttpLimits> = {}) {
  return listenHttp({ eras, onClient: (open) => void serveClient(open, session), limits });
}

function open({ url }: HttpListener, era?: Era): Promise<Session> {
  const onRequest = async (): Promise<JsonObject> => ({ roots: [{ uri: "file:///a" }] });
  return connect(
    { kind: "http", url, headers: {} },
    { clientInfo, capabilities: { roots: {} }, onRequest, ...(era && { era }) },
  );
}

describe.each(["legacy", "modern"] as const)("a client of the %s era", (era) => {
  let listener: HttpListener;
  beforeAll(async () => {
    listener = await listen([era]);
  });
  afterAll(() => listener.close());

  test("finds the era, and gets answers and progress of its own request", async () => {
    const client = await open(listener);
    expect(client.era).toBe(era);
    const progress: number[] = [];
    const result = await client.request(
      "tools/call",
      { name: "progress" },
      { onProgress: (step) => progress.push(step.progress) },
    );
    expect(result).toMatchObject({ content: [{ type: "text", text: "progress" }] });
    expect(progress).toEqual([1, 2]);
    await expect(client.request("nothing/here")).rejects.toMatchObject({
      code: "rpc",
      message: "nothing/here is not here",
      evidence: { rpc: { code: -32601 } },
    });
    await client.close();
  });

  test("cancels a request that waits", async () => {
    const client = await open(listener);
    const stop = new AbortController();
    const waiting = client.request("tools/call", { name: "wait" }, { signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
    expect(await client.request("tools/call", { name: "after" })).toMatchObject({ content: [{ text: "after" }] });
    await client.close();
  });
});

test("a legacy client is asked on the stream of its request", async () => {
  const listener = await listen(["legacy"]);
  const client = await open(listener);
  expect(await client.request("tools/call", { name: "ask" })).toMatchObject({
    answer: { roots: [{ uri: "file:///a" }] },
  });
  await client.close();
  await listener.close();
});

test("the session that was idle longest makes room for a new one", async () => {
  const listener = await listen(["legacy"], { sessions: 1 });
  const first = await post(listener.url, { headers: {}, body: initialize });
  const second = await post(listener.url, { headers: {}, body: initialize });
  const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
  const ask = (id: unknown) => post(listener.url, { headers: { "mcp-session-id": String(id) }, body: ping });
  expect((await ask(second.headers["mcp-session-id"])).status).toBe(200);
  expect((await ask(first.headers["mcp-session-id"])).status).toBe(404);
  await listener.close();
});

test("a client that is turned away does not wait: its request gets status 503", async () => {
  const events = { message: () => undefined, largest: () => 0, dropped() {}, closed() {}, diagnostic() {} };
  const listener = await listenHttp({
    eras: ["legacy", "modern"],
    onClient: (openClient) => void openClient(events).then((channel) => channel.close()),
  });
  expect((await post(listener.url, { headers: {}, body: initialize })).status).toBe(503);
  expect((await post(listener.url, { headers: modernHeaders, body: modernCall })).status).toBe(503);
  await listener.close();
});

test("a client that cannot be served does not wait either", async () => {
  const eras = ["legacy", "modern"] as const;
  const listener = await listenHttp({ eras, onClient: () => Promise.reject(new Error("no servers")) });
  expect((await post(listener.url, { headers: {}, body: initialize })).status).toBe(503);
  expect((await post(listener.url, { headers: modernHeaders, body: modernCall })).status).toBe(503);
  await listener.close();
});

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const modernCall = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "x", _meta: meta } };
const modernHeaders = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "x" };

describe("refused before any handler sees it", () => {
  let listener: HttpListener;
  beforeAll(async () => {
    listener = await listen(["legacy", "modern"], { bodyBytes: 1000 });
  });
  afterAll(() => listener.close());

  test.each([
    ["a foreign host", { host: "evil.example" }, initialize, 403],
    ["a foreign origin", { origin: "https://evil.example" }, initialize, 403],
    ["a body that is not JSON by its type", { "content-type": "text/plain" }, initialize, 415],
    ["a large body", {}, { ...initialize, params: { text: "x".repeat(2000) } }, 413],
    ["a batch", {}, [initialize], 400],
    ["no session", {}, { ...initialize, method: "tools/list" }, 400],
    ["an unknown session", { "mcp-session-id": "x" }, { ...initialize, method: "tools/list" }, 404],
    [
      "a version that differs from the body",
      { ...modernHeaders, "mcp-protocol-version": "2025-11-25" },
      modernCall,
      400,
    ],
    ["a method that differs from the body", { ...modernHeaders, "mcp-method": "ping" }, modernCall, 400],
    ["a name that differs from the body", { ...modernHeaders, "mcp-name": "y" }, modernCall, 400],
    ["a modern ping", { ...modernHeaders, "mcp-method": "ping" }, { ...modernCall, method: "ping" }, 404],
  ])("%s", async (_what, headers, body, status) => {
    expect((await post(listener.url, { headers, body })).status).toBe(status);
  });

  test("the same requests in order are answered", async () => {
    const origin = new URL(listener.url).origin;
    expect((await post(listener.url, { headers: { origin }, body: initialize })).status).toBe(200);
    expect((await post(listener.url, { headers: modernHeaders, body: modernCall })).status).toBe(200);
  });

  test.each([
    ["application/json, text/event-stream", "application/json"],
    ["text/event-stream, application/json", "text/event-stream"],
    ["text/event-stream", "text/event-stream"],
    ["*/*", "application/json"],
  ])("a client that accepts %s gets %s", async (accept, type) => {
    for (const sent of [
      { headers: { accept }, body: initialize },
      { headers: { ...modernHeaders, accept }, body: modernCall },
    ])
      expect((await post(listener.url, sent)).headers["content-type"]).toBe(type);
  });

  test("other methods and paths", async () => {
    expect((await post(listener.url, { method: "GET" })).status).toBe(405);
    expect((await post(`${listener.url}/other`, { headers: {}, body: initialize })).status).toBe(404);
  });
});

describe("arguments that a tool's schema wants in headers", () => {
  const schema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
  let listener: HttpListener;
  beforeAll(async () => {
    listener = await listenHttp({
      eras: ["modern"],
      onClient: (openClient) => void serveClient(openClient, session),
      schemaOf: (_context, tool) => (tool === "x" ? schema : undefined),
    });
  });
  afterAll(() => listener.close());

  test.each([
    ["a value that matches", { region: "Hello" }, "Hello", 200],
    ["a value in Base64", { region: "Hello" }, "=?base64?SGVsbG8=?=", 200],
    ["a value that only begins like Base64", { region: "=?base64?SGVsbG8=" }, "=?base64?SGVsbG8=", 200],
    ["no argument and no header", {}, undefined, 200],
    ["another value", { region: "Hello" }, "Bye", 400],
    ["wrong padding", { region: "Hello" }, "=?base64?SGVsbG8?=", 400],
    ["other characters than those of Base64", { region: "Hello" }, "=?base64?SGVs!!!bG8=?=", 400],
    ["no header", { region: "Hello" }, undefined, 400],
    ["a header without an argument", {}, "Hello", 400],
  ])("%s", async (_what, args, header, status) => {
    const body = { ...modernCall, params: { ...modernCall.params, arguments: args } };
    const headers = { ...modernHeaders, ...(header !== undefined && { "mcp-param-region": header }) };
    expect((await post(listener.url, { headers, body })).status).toBe(status);
  });
});

test("connections without a request are limited, and do not keep a client from its own", async () => {
  const listener = await listen(["legacy"], { unusedConnections: 3 });
  const { port, hostname } = new URL(listener.url);
  const idle = Array.from({ length: 5 }, () =>
    openSocket(Number(port), hostname)
      .on("error", () => {})
      .resume(),
  );
  const others = idle.slice(2);
  await Promise.all(idle.slice(0, 2).map((socket) => once(socket, "close")));
  const client = await open(listener, "legacy");
  expect(others.filter(({ destroyed }) => !destroyed).length).toBeGreaterThan(0);
  await client.close();
  await listener.close();
});

test("a stream that the client does not read is cut after some time, and others go on", async () => {
  let client: ServedClient | undefined;
  const listener = await listenHttp({
    eras: ["legacy"],
    onClient: (opening) => {
      client = serveClient(opening, session);
    },
    times: { unread: 20 },
  });
  const { port, hostname, host, pathname } = new URL(listener.url);
  const first = await post(listener.url, { body: initialize });
  const id = String(first.headers["mcp-session-id"]);
  const get = `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\nmcp-session-id: ${id}\r\n\r\n`;
  const listenTo = async (): Promise<{ readonly socket: Socket; readonly head: string }> => {
    const socket = openSocket(Number(port), hostname).on("error", () => {});
    socket.write(get);
    const [head] = (await once(socket, "data")) as [Buffer];
    return { socket: socket.pause(), head: String(head) };
  };
  const silent = await listenTo();
  for (let at = 0; at < 8; at += 1) await client?.notify("notifications/x", { text: "x".repeat(2 * 1024 * 1024) });
  // While the first stream is open, a second one gets 409.
  for (let isOpen = false; !isOpen; ) {
    const { socket, head } = await listenTo();
    isOpen = head.startsWith("HTTP/1.1 200");
    socket.destroy();
  }
  silent.socket.destroy();
  await listener.close();
});
