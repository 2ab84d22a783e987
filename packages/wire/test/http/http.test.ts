import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import { openHttp } from "../../src/http/http.ts";
import type { Channel } from "../../src/rpc/channel.ts";
import { type AuthHook, defaultLimits, defaultTimes } from "../../src/target.ts";
import { collected } from "../support/collected.ts";
import { type Recorder, recorder } from "../support/recorder.ts";
import { result, sendJson, startEvents, type WebServer, webServer } from "../support/web-server.ts";

const never = new AbortController().signal;
const call = (id: number, method = "tools/list") => ({ jsonrpc: "2.0", id, method, params: {} });

interface Extra {
  readonly auth?: AuthHook;
  readonly messageBytes?: number;
  readonly headers?: Record<string, string>;
  readonly path?: string;
  readonly endGrace?: number;
}

async function open(server: WebServer, extra: Extra = {}): Promise<{ channel: Channel; events: Recorder }> {
  const events = recorder();
  const channel = await openHttp(
    { kind: "http", url: `${server.url}${extra.path ?? "/mcp"}`, headers: extra.headers ?? {} },
    {
      limits: { ...defaultLimits, messageBytes: extra.messageBytes ?? defaultLimits.messageBytes },
      times: { ...defaultTimes, endGrace: extra.endGrace ?? 20_000 },
      auth: extra.auth,
      proxyFor: () => undefined,
    },
  )(events, never);
  return { channel, events };
}

function failure(promise: Promise<unknown>): Promise<WireError> {
  return promise.then(
    () => Promise.reject(new Error("it should have failed")),
    (error: unknown) => {
      if (error instanceof WireError) return error;
      throw error;
    },
  );
}

test("a JSON answer delivers its message, and the configured headers go out", async () => {
  await using server = await webServer((request, response) => sendJson(response, result(request, { tools: [] })));
  const { channel, events } = await open(server, { headers: { "X-Api-Key": "k" } });
  await channel.send(call(1), { headers: { "Mcp-Method": "tools/list" } });
  expect(events.messages).toEqual([{ jsonrpc: "2.0", id: 1, result: { tools: [] } }]);
  expect(server.seen[0]?.headers).toMatchObject({
    "x-api-key": "k",
    "mcp-method": "tools/list",
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  });
});

test("a batch and a stream of events deliver their members in order", async () => {
  await using server = await webServer((request, response) => {
    const note = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}';
    if (request.path === "/batch") return sendJson(response, `[${note},${result(request, {})}]`);
    startEvents(response);
    response.write(`: hello\n\nevent: message\ndata: ${note}\n\n`);
    response.end(`data: ${result(request, {})}\n\n`);
  });
  for (const path of ["/batch", "/stream"]) {
    const { channel, events } = await open(server, { path });
    await channel.send(call(7));
    expect(events.messages.map(({ id, method }) => id ?? method)).toEqual(["notifications/progress", 7]);
  }
});

test("connections are kept and reused", async () => {
  await using server = await webServer((request, response) => sendJson(response, result(request, {})));
  let connections = 0;
  server.server.on("connection", () => (connections += 1));
  const { channel } = await open(server);
  for (let id = 1; id <= 5; id += 1) await channel.send(call(id));
  expect(connections).toBe(1);
});

test.each([
  ["a plain 500", 500, "text/plain", "boom", "http_status", { httpStatus: 500, firstBytes: "boom" }],
  ["503 with Retry-After", 503, "text/plain", "", "http_status", { httpStatus: 503, retryAfter: "7" }],
  [
    "an HTML login page",
    200,
    "text/html",
    "<html>login",
    "bad_message",
    { contentType: "text/html", firstBytes: "<html>login" },
  ],
  ["an empty 200", 200, "", "", "bad_message", { httpStatus: 200 }],
  ["a 204", 204, "", "", "bad_message", { httpStatus: 204 }],
  ["JSON that is none", 200, "application/json", "{half", "bad_message", { firstBytes: "{half" }],
  ["JSON without a response", 200, "application/json", "{}", "bad_message", { httpStatus: 200 }],
  [
    "a JSON-RPC error in a 400",
    400,
    "application/json",
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no","data":{"supported":["x"]}}}',
    "rpc",
    { httpStatus: 400, rpc: { code: -32022, data: { supported: ["x"] } } },
  ],
] as const)("%s is a named error with its evidence", async (_, status, type, body, code, evidence) => {
  await using server = await webServer((_request, response) => {
    response.writeHead(status, {
      ...(type === "" ? {} : { "content-type": type }),
      ...(status === 503 ? { "retry-after": "7" } : {}),
    });
    response.end(body);
  });
  const { channel } = await open(server);
  const error = await failure(channel.send(call(1)));
  expect({ code: error.code, evidence: error.evidence }).toMatchObject({ code, evidence });
});

test.each([
  { status: 429, retryAfter: "7" },
  { status: 503, retryAfter: "7" },
  { status: 503, retryAfter: undefined },
])("$status with Retry-After $retryAfter does not prove that the request was not processed", async (given) => {
  const { status, retryAfter } = given;
  const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
  const bodies: [string, string][] = [
    ["text/plain", "no"],
    ["application/json", '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}'],
  ];
  for (const [type, body] of bodies) {
    await using server = await webServer((_request, response) => {
      response.writeHead(status, { ...headers, "content-type": type }).end(body);
    });
    const { channel } = await open(server);
    const { evidence } = await failure(channel.send(call(1)));
    expect([evidence.httpStatus, evidence.retryAfter, evidence.unsent]).toEqual([status, retryAfter, undefined]);
  }
});

test.each([
  ["503", 503, { httpStatus: 503, retryAfter: "7" }, "HTTP status 503"],
  ["405", 405, { httpStatus: 405 }, "HTTP status 405"],
  ["401", 401, { httpStatus: 401 }, "HTTP status 401"],
  ["no server there", undefined, {}, "ECONNREFUSED"],
] as const)("a stream that cannot be resumed is lost, and never unsent: %s", async (_, status, evidence, why) => {
  await using server = await webServer((request, response) => {
    if (request.method === "GET") return void response.writeHead(status ?? 500, { "retry-after": "7" }).end();
    startEvents(response);
    response.end("id: 5\nretry: 10\ndata:\n\n");
    if (status === undefined) server.server.close();
    if (status === undefined) response.socket?.once("finish", () => response.socket?.destroy());
  });
  const { channel } = await open(server);
  const error = await failure(channel.send(call(1)));
  expect(error).toMatchObject({ code: "stream_lost", message: expect.stringContaining("could not be resumed: ") });
  expect(error.message).toContain(why);
  expect(error.evidence).toMatchObject(evidence);
  expect(error.evidence.unsent).toBeUndefined();
});

test("an answer stream that is cut, or ends without the answer, fails that request at once", async () => {
  await using server = await webServer((request, response) => {
    startEvents(response);
    if (request.path === "/cut") response.write(": wait\n\n", () => response.socket?.resetAndDestroy());
    else response.end(": wait\n\n");
  });
  for (const path of ["/cut", "/end"]) {
    const { channel } = await open(server, { path });
    expect((await failure(channel.send(call(1)))).code).toBe("stream_lost");
  }
});

test("a stream that brings the answer and does not end is ended from here", async () => {
  const closed = collected<string>();
  await using server = await webServer((request, response) => {
    startEvents(response);
    response.on("close", () => closed.add(request.path));
    response.write(`data: ${result(request, {})}\n\n`);
  });
  const { channel, events } = await open(server, { endGrace: 1 });
  await channel.send(call(1));
  expect(events.messages).toHaveLength(1);
  expect(await closed.reached(1)).toEqual(["/mcp"]);
  await channel.close();
});

test("a server of the stateless era is not asked for a stream of messages", async () => {
  await using server = await webServer((request, response) => {
    if (request.body.includes('"id"')) return sendJson(response, result(request, {}));
    response.writeHead(202).end();
  });
  const { channel } = await open(server);
  channel.setProtocolVersion("2026-07-28");
  await channel.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  for (const id of [1, 2, 3]) await channel.send(call(id));
  expect(server.seen.map(({ method }) => method)).toEqual(["POST", "POST", "POST", "POST"]);
  await channel.close();
});

test("a stream that ends early but said where it was is resumed from there", async () => {
  await using server = await webServer((request, response) => {
    startEvents(response);
    if (request.method === "POST") return void response.end("id: 5\nretry: 10\ndata:\n\n");
    response.end(`id: 6\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n`);
  });
  const { channel, events } = await open(server);
  await channel.send(call(1));
  expect(events.messages).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
  expect(server.seen[1]).toMatchObject({ method: "GET", headers: { "last-event-id": "5" } });
});

test("in the stateless era nothing is resumed", async () => {
  await using server = await webServer((_request, response) => {
    startEvents(response);
    response.end("id: 5\nretry: 10\ndata:\n\n");
  });
  const { channel } = await open(server);
  channel.setProtocolVersion("2026-07-28");
  expect(channel.cancelBy).toBe("stream");
  expect((await failure(channel.send(call(1)))).code).toBe("stream_lost");
  expect(server.seen.map(({ method }) => method)).toEqual(["POST"]);
});

test("the session id is kept, and a 404 ends the session", async () => {
  await using server = await webServer((request, response) => {
    if (request.headers["mcp-session-id"] === "s1") return sendJson(response, '{"error":{"code":-32001}}', 404);
    sendJson(response, result(request, {}), 200, { "mcp-session-id": "s1" });
  });
  const { channel, events } = await open(server);
  await channel.send(call(1, "initialize"));
  channel.setProtocolVersion("2025-06-18");
  expect((await failure(channel.send(call(2)))).code).toBe("session_expired");
  expect((await events.over)?.code).toBe("session_expired");
  expect(server.seen[1]?.headers).toMatchObject({ "mcp-session-id": "s1", "mcp-protocol-version": "2025-06-18" });
  expect((await failure(channel.send(call(3)))).code).toBe("closed");
});

test("the id of a refused probe is not the session's", async () => {
  await using server = await webServer((request, response) => {
    if (request.body.includes("server/discover")) return sendJson(response, "{}", 400, { "mcp-session-id": "stray" });
    sendJson(response, result(request, {}), 200, { "mcp-session-id": "real" });
  });
  const { channel } = await open(server);
  await failure(channel.send(call(1, "server/discover")));
  await channel.send(call(2, "initialize"));
  await channel.send(call(3));
  expect(server.seen.map(({ headers }) => headers["mcp-session-id"])).toEqual([undefined, undefined, "real"]);
});

test("closing tells the server that the session is over", async () => {
  await using server = await webServer((request, response) =>
    sendJson(response, request.method === "DELETE" ? "" : result(request, {}), 200, { "mcp-session-id": "s1" }),
  );
  const { channel, events } = await open(server);
  await channel.send(call(1, "initialize"));
  await channel.close();
  expect(await events.over).toBeUndefined();
  expect(server.seen[1]).toMatchObject({ method: "DELETE", headers: { "mcp-session-id": "s1" } });
});

test("messages of the GET stream arrive, and it comes back with its position", async () => {
  await using server = await webServer((request, response) => {
    if (request.method === "POST") return void response.writeHead(202).end();
    startEvents(response);
    const position = Number(request.headers["last-event-id"] ?? 0) + 1;
    if (position > 3) return void response.write(": quiet\n\n");
    response.end(`id: ${position}\nretry: 1\ndata: {"jsonrpc":"2.0","method":"n${position}"}\n\n`);
  });
  const { channel, events } = await open(server);
  channel.setProtocolVersion("2025-11-25");
  await channel.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  await events.received(3);
  expect(events.messages.map(({ method }) => method)).toEqual(["n1", "n2", "n3"]);
  await channel.close();
});

test("a server without a GET stream is asked once", async () => {
  await using server = await webServer(
    (request, response) => void response.writeHead(request.method === "POST" ? 202 : 405).end(),
  );
  const { channel } = await open(server);
  channel.setProtocolVersion("2025-11-25");
  const asked = once(server.server, "request").then(() => once(server.server, "request"));
  await channel.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  await asked;
  await channel.send({ jsonrpc: "2.0", method: "notifications/x" });
  expect(server.seen.map(({ method }) => method)).toEqual(["POST", "GET", "POST"]);
  await channel.close();
});

test("a redirect is followed on the same origin only; another origin sees nothing", async () => {
  await using other = await webServer((request, response) => sendJson(response, result(request, {})));
  await using server = await webServer((request, response) => {
    if (request.path === "/mcp") return void response.writeHead(307, { location: "/real" }).end();
    if (request.path === "/away") return void response.writeHead(308, { location: `${other.url}/mcp` }).end();
    if (request.path === "/loop") return void response.writeHead(307, { location: "/loop" }).end();
    sendJson(response, result(request, {}));
  });
  const { channel, events } = await open(server, { headers: { "X-Api-Key": "secret" } });
  await channel.send(call(1));
  expect(events.messages.length).toBe(1);
  for (const path of ["/away", "/loop"]) {
    const elsewhere = await open(server, { path, headers: { "X-Api-Key": "secret" } });
    expect((await failure(elsewhere.channel.send(call(1)))).code).toBe("http_status");
  }
  expect(other.seen).toEqual([]);
});

test("a refused request goes on inline after sign-in; without one it is `unauthorized` with the challenge", async () => {
  await using server = await webServer((request, response) => {
    if (request.headers.authorization === "Bearer good") return sendJson(response, result(request, {}));
    response.writeHead(401, { "www-authenticate": 'Bearer scope="a"' }).end("no");
  });
  let token = "bad";
  const { channel, events } = await open(server, {
    auth: {
      headers: async () => ({ authorization: `Bearer ${token}` }),
      challenged: async ({ wwwAuthenticate }) => {
        expect(wwwAuthenticate).toBe('Bearer scope="a"');
        token = "good";
        return true;
      },
    },
  });
  await channel.send(call(1));
  expect(events.messages.length).toBe(1);

  const { channel: alone } = await open(server);
  const error = await failure(alone.send(call(1)));
  expect({ code: error.code, evidence: error.evidence }).toEqual({
    code: "unauthorized",
    evidence: { httpStatus: 401, wwwAuthenticate: 'Bearer scope="a"', firstBytes: "no" },
  });
});

test("a sign-in that never helps ends", async () => {
  await using server = await webServer((_request, response) => void response.writeHead(403).end());
  const { channel } = await open(server, { auth: { headers: async () => ({}), challenged: async () => true } });
  expect((await failure(channel.send(call(1)))).code).toBe("unauthorized");
  expect(server.seen.length).toBeLessThan(10);
});

test.each(["/json", "/events", "/gzip"])("an answer over the limit is refused while it arrives: %s", async (path) => {
  const long = "x".repeat(100_000);
  await using server = await webServer((request, response) => {
    if (path === "/events") {
      startEvents(response);
      return void response.end(`data: "${long}`);
    }
    const gzip = path === "/gzip";
    const body = gzip ? gzipSync(result(request, { long })) : result(request, { long });
    response
      .writeHead(200, { "content-type": "application/json", ...(gzip ? { "content-encoding": "gzip" } : {}) })
      .end(body);
  });
  const { channel } = await open(server, { path, messageBytes: 10_000 });
  expect((await failure(channel.send(call(1)))).code).toBe("too_large");
});

test("a compressed answer is read although the client did not ask for it", async () => {
  await using server = await webServer((request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    response.end(gzipSync(result(request, { ok: true })));
  });
  const { channel, events } = await open(server);
  await channel.send(call(1));
  expect(events.messages).toEqual([{ jsonrpc: "2.0", id: 1, result: { ok: true } }]);
});

test("aborting ends the exchange, and the server sees it", async () => {
  const abort = new AbortController();
  let gone: Promise<unknown> = Promise.resolve();
  await using server = await webServer((_request, response) => {
    startEvents(response);
    response.write(": working\n\n");
    gone = once(response, "close");
    abort.abort();
  });
  const { channel } = await open(server);
  await failure(channel.send(call(1), { signal: abort.signal }));
  await gone;
});

test("an address without a server is `unreachable`, and certainly unsent", async () => {
  const server = await webServer(() => {});
  await server[Symbol.asyncDispose]();
  const { channel } = await open(server);
  const error = await failure(channel.send(call(1)));
  expect(error.code).toBe("unreachable");
  expect(error.evidence.unsent).toBe(true);
});

test("a header that HTTP forbids is refused before anything is sent", async () => {
  await using server = await webServer((request, response) => sendJson(response, result(request, {})));
  const { channel } = await open(server, { headers: { "X-Bad": "a\nb" } });
  expect((await failure(channel.send(call(1)))).code).toBe("bad_message");
  expect(server.seen).toEqual([]);
});
