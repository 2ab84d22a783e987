import { describe, expect, test } from "vitest";
import { openServerRelay } from "../../src/serve/server-relay.ts";
import type { JsonObject } from "../../src/session.ts";
import type { HttpTarget } from "../../src/target.ts";
import { collected } from "../support/collected.ts";
import { result, type Seen, sendJson, startEvents, type WebServer, webServer } from "../support/web-server.ts";

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A relay to a web server, with what it received and reported. */
async function relayTo(server: WebServer, kind: HttpTarget["kind"] = "http") {
  const received = collected<JsonObject>();
  const reported: unknown[] = [];
  const relay = await openServerRelay(
    { kind, url: `${server.url}/mcp`, headers: { "x-key": "k" } },
    {
      onReceived: received.add,
      onMessage: (direction, { id, method }) => void reported.push([direction, id, method]),
      proxyFor: () => undefined,
      times: { endGrace: 200 },
    },
  );
  return { ...relay, received, reported, [Symbol.asyncDispose]: () => relay.close() };
}

const methodOf = ({ body }: Seen): unknown => (JSON.parse(body) as JsonObject)["method"];
const request = (id: unknown, method: string, params: JsonObject = {}): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

describe("the headers of a relayed message", () => {
  test("have the version of the handshake and the session id", async () => {
    await using server = await webServer((seen, response) => {
      if (seen.method !== "POST") return void response.writeHead(405).end();
      const { id } = JSON.parse(seen.body) as JsonObject;
      if (id === undefined) return void response.writeHead(202).end();
      sendJson(response, result(seen, { protocolVersion: "2025-06-18" }), 200, { "mcp-session-id": "s1" });
    });
    await using relay = await relayTo(server);
    relay.send(request(1, "tools/list"));
    await relay.received.reached(1);
    relay.send(request(2, "initialize"));
    await relay.received.reached(2);
    relay.send(request(3, "tools/list"));
    await relay.received.reached(3);
    expect(server.seen.map(({ headers }) => [headers["mcp-protocol-version"], headers["mcp-session-id"]])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
      ["2025-06-18", "s1"],
    ]);
    expect(server.seen[0]?.headers).toMatchObject({ "x-key": "k" });
    expect(server.seen[0]?.headers["mcp-method"]).toBeUndefined();
    expect(relay.received.items.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(relay.reported).toEqual([
      ["sent", 1, "tools/list"],
      ["received", 1, undefined],
      ["sent", 2, "initialize"],
      ["received", 2, undefined],
      ["sent", 3, "tools/list"],
      ["received", 3, undefined],
    ]);
  });

  test("have the version, the method and the name of a modern message, and the given ones", async () => {
    await using server = await webServer((seen, response) => sendJson(response, result(seen, {})));
    await using relay = await relayTo(server);
    relay.send(request(1, "tools/call", { name: "t", _meta: meta }), { "mcp-param-a": "1" });
    await relay.received.reached(1);
    expect(server.seen[0]?.headers).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "t",
      "mcp-param-a": "1",
    });
  });
});

describe("a request that the server refuses", () => {
  test("is answered with the server's error, or with an internal error", async () => {
    await using server = await webServer((seen, response) =>
      methodOf(seen) === "a"
        ? sendJson(response, '{"jsonrpc":"2.0","id":null,"error":{"code":-7,"message":"no","data":{"x":1}}}', 400)
        : void response.writeHead(500, { "content-type": "text/plain" }).end("broken"),
    );
    await using relay = await relayTo(server);
    relay.send(request("one", "a"));
    await relay.received.reached(1);
    relay.send(request("two", "b"));
    await relay.received.reached(2);
    const message = "the server answered with HTTP status 500 with text/plain instead of a JSON-RPC response";
    expect(relay.received.items).toEqual([
      { jsonrpc: "2.0", id: "one", error: { code: -7, message: "no", data: { x: 1 } } },
      { jsonrpc: "2.0", id: "two", error: { code: -32603, message } },
    ]);
    expect(relay.reported).toEqual([
      ["sent", "one", "a"],
      ["received", "one", undefined],
      ["sent", "two", "b"],
      ["received", "two", undefined],
    ]);
  });

  test("that is a notification gets no answer", async () => {
    await using server = await webServer((seen, response) =>
      methodOf(seen) === "n" ? void response.writeHead(500).end() : sendJson(response, result(seen, {})),
    );
    await using relay = await relayTo(server);
    relay.send({ jsonrpc: "2.0", method: "n" });
    relay.send(request(1, "a"));
    await relay.received.reached(1);
    expect(relay.received.items.map(({ id }) => id)).toEqual([1]);
  });
});

describe("a server that may support only HTTP+SSE", () => {
  /** Refuses POST requests to its URL with this status, and answers those to the address of its stream. */
  function sseServer(status: number): Promise<WebServer> {
    let stream: { write(text: string): unknown } | undefined;
    return webServer((seen, response) => {
      if (seen.method === "GET") {
        startEvents(response);
        stream = response;
        return void response.write("event: endpoint\ndata: /messages\n\n");
      }
      if (seen.path === "/mcp") return void response.writeHead(status).end();
      response.writeHead(202).end();
      stream?.write(`event: message\ndata: ${result(seen, { over: "sse" })}\n\n`);
    });
  }

  test.each([400, 404, 405])("and answers initialize with %d is tried that way", async (status) => {
    await using server = await sseServer(status);
    await using relay = await relayTo(server, "http-or-sse");
    relay.send(request(1, "initialize"));
    expect(await relay.received.reached(1)).toEqual([{ jsonrpc: "2.0", id: 1, result: { over: "sse" } }]);
    relay.send(request(2, "ping"));
    expect((await relay.received.reached(2))[1]).toEqual({ jsonrpc: "2.0", id: 2, result: { over: "sse" } });
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /mcp",
      "GET /mcp",
      "POST /messages",
      "POST /messages",
    ]);
  });

  test.each<[HttpTarget["kind"], number, JsonObject]>([
    ["http-or-sse", 500, request(1, "initialize")],
    ["http-or-sse", 404, request(1, "tools/list")],
    ["http-or-sse", 404, request(1, "initialize", { _meta: meta })],
    ["http", 404, request(1, "initialize")],
  ])("is not tried that way as %s after %d to %j", async (kind, status, message) => {
    await using server = await sseServer(status);
    await using relay = await relayTo(server, kind);
    relay.send(message);
    const [answered] = await relay.received.reached(1);
    expect(answered).toMatchObject({ id: 1, error: { code: -32603 } });
    expect(server.seen.map(({ method }) => method)).toEqual(["POST"]);
  });

  test("and is known to be one is reached that way at once", async () => {
    await using server = await sseServer(404);
    await using relay = await relayTo(server, "sse");
    relay.send(request(1, "initialize"));
    await relay.received.reached(1);
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /mcp", "POST /messages"]);
  });
});

describe("a cancellation", () => {
  test("of a legacy request, or of one that is not open, is passed on", async () => {
    const arrived = collected<unknown>();
    await using server = await webServer((seen, response) => {
      arrived.add(methodOf(seen));
      if (methodOf(seen) === "notifications/cancelled") response.writeHead(202).end();
    });
    await using relay = await relayTo(server);
    relay.send(request(1, "slow"));
    await arrived.reached(1);
    for (const requestId of [1, 7]) {
      relay.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
      await arrived.reached(requestId === 1 ? 2 : 3);
    }
    expect(arrived.items).toEqual(["slow", "notifications/cancelled", "notifications/cancelled"]);
  });

  test("of a modern request closes its stream, and the client gets no response", async () => {
    const arrived = collected<unknown>();
    const closed = collected<unknown>();
    await using server = await webServer((seen, response) => {
      arrived.add(methodOf(seen));
      response.once("close", () => closed.add(methodOf(seen)));
    });
    await using relay = await relayTo(server);
    relay.send(request(1, "slow", { _meta: meta }));
    await arrived.reached(1);
    relay.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await closed.reached(1);
    expect(arrived.items).toEqual(["slow"]);
    expect(relay.received.items).toEqual([]);
    expect(relay.reported).toEqual([
      ["sent", 1, "slow"],
      ["sent", undefined, "notifications/cancelled"],
    ]);
  });
});

test("the end of a server's stream ends the relay with the cause", async () => {
  await using server = await webServer((_seen, response) => {
    startEvents(response);
    response.end("event: endpoint\ndata: /messages\n\n");
  });
  await using relay = await relayTo(server, "sse");
  expect(await relay.closed).toMatchObject({ code: "stream_lost", message: "the server ended its event stream" });
});
