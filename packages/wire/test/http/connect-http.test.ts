import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { connect } from "../../src/connect.ts";
import type { JsonObject, NegotiatedProtocol } from "../../src/session.ts";
import type { AuthHook, ConnectOptions, HttpTarget } from "../../src/target.ts";
import { failure } from "../support/memory-server.ts";
import { clientInfo, discover } from "../support/modern-session.ts";
import { stoppedTime } from "../support/simulated-time.ts";
import { type Seen, type WebServer, webServer } from "../support/web-server.ts";

type Answer = (message: JsonObject, response: ServerResponse, request: Seen) => void;

const hello = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "web", version: "1" } };

function send(response: ServerResponse, status: number, body?: unknown, type = "application/json"): void {
  response.writeHead(status, body === undefined ? {} : { "content-type": type });
  response.end(typeof body === "string" || body === undefined ? body : JSON.stringify(body));
}

const reply = (response: ServerResponse, { id }: JsonObject, result: unknown): void =>
  send(response, 200, { jsonrpc: "2.0", id, result });

const refuse = (response: ServerResponse, { id }: JsonObject, status: number, error: JsonObject): void =>
  send(response, status, { jsonrpc: "2.0", id, error });

/** A server whose answer to the probe is given; everything else it does as the legacy era does. */
function legacyServer(onProbe: Answer): Promise<WebServer> {
  return webServer((request, response) => {
    if (request.method !== "POST") return send(response, 405);
    const message = JSON.parse(request.body) as JsonObject;
    if (message["method"] === "server/discover") return onProbe(message, response, request);
    if (message["method"] === "initialize") return reply(response, message, hello);
    if (message["id"] === undefined) return send(response, 202);
    reply(response, message, { method: message["method"] });
  });
}

function target(server: WebServer, kind: HttpTarget["kind"] = "http"): HttpTarget {
  return { kind, url: `${server.url}/mcp`, headers: {} };
}

function connectTo(server: WebServer, options: Partial<ConnectOptions> = {}, kind: HttpTarget["kind"] = "http") {
  return connect(target(server, kind), {
    clientInfo,
    ...options,
    times: { connect: 20_000, endGrace: 200, ...options.times },
  });
}

/** What was asked for, in order. */
function asked({ seen }: WebServer): string[] {
  return seen.map(({ method, body }) =>
    method === "POST" ? String((JSON.parse(body) as JsonObject)["method"]) : method,
  );
}

describe("a server of the legacy era", () => {
  test.each<[string, Answer]>([
    ["400 and nothing", (_, response) => send(response, 400)],
    [
      "400 and an error of its own",
      (message, response) => refuse(response, message, 400, { code: -32000, message: "no session" }),
    ],
    ["404 and a page", (_, response) => send(response, 404, "<h1>not here</h1>", "text/html")],
    [
      "404 and an unknown method",
      (message, response) => refuse(response, message, 404, { code: -32601, message: "what?" }),
    ],
    ["405", (_, response) => send(response, 405)],
    ["406", (_, response) => send(response, 406)],
    ["415", (_, response) => send(response, 415)],
    ["429", (_, response) => send(response, 429)],
    [
      "a redirect to somewhere else",
      (_, response) => response.writeHead(302, { location: "https://example.invalid/" }).end(),
    ],
    ["200 and nothing", (_, response) => send(response, 200)],
    ["200 and no JSON", (_, response) => send(response, 200, "", "application/json")],
    ["200 and a page", (_, response) => send(response, 200, "<h1>hello</h1>", "text/html")],
    [
      "200 and an unknown method",
      (message, response) => refuse(response, message, 200, { code: -32601, message: "what?" }),
    ],
    ["200 and a stream without an answer", (_, response) => send(response, 200, ": nothing\n\n", "text/event-stream")],
    ["200 and something else", (message, response) => reply(response, message, {})],
    ["202", (_, response) => send(response, 202)],
    ["204", (_, response) => send(response, 204)],
  ])("is recognised when it answers the probe with %s", async (_, onProbe) => {
    await using server = await legacyServer(onProbe);
    const session = await connectTo(server);
    expect(session).toMatchObject({ era: "legacy", protocol: { era: "legacy", transport: "http" } });
    expect(await session.request("tools/list")).toEqual({ method: "tools/list" });
    await session.close();
    expect(asked(server).filter((method) => method !== "GET")).toEqual([
      "server/discover",
      "initialize",
      "notifications/initialized",
      "tools/list",
    ]);
  });

  test("hears of the modern version in the probe only, and of its own afterwards", async () => {
    await using server = await legacyServer((_, response) => send(response, 400));
    const session = await connectTo(server);
    await session.request("tools/list");
    await session.close();
    const versions = server.seen.map(({ headers }) => headers["mcp-protocol-version"]);
    expect(versions.slice(0, 3)).toEqual(["2026-07-28", undefined, "2025-11-25"]);
    expect(new Set(versions.slice(3))).toEqual(new Set(["2025-11-25"]));
  });

  test("that does not like notifications is opened all the same", async () => {
    const diagnostics: string[] = [];
    await using server = await webServer((request, response) => {
      if (request.method !== "POST") return send(response, 405);
      const message = JSON.parse(request.body) as JsonObject;
      if (message["id"] === undefined) send(response, 400);
      else reply(response, message, hello);
    });
    const session = await connectTo(server, { era: "legacy", onDiagnostic: (text) => void diagnostics.push(text) });
    expect(session.era).toBe("legacy");
    await session.close();
    expect(diagnostics[0]).toMatch(/^the server refused notifications\/initialized: /);
  });

  test("is not probed when that was learnt before", async () => {
    await using server = await legacyServer((_, response) => send(response, 500));
    const session = await connectTo(server, { era: { era: "legacy", transport: "http" } });
    await session.close();
    expect(asked(server)[0]).toBe("initialize");
  });
});

describe("a server of the modern era", () => {
  function modernServer(onProbe: Answer = (message, response) => reply(response, message, discover)) {
    return webServer((request, response) => {
      if (request.method !== "POST") return send(response, 405);
      const message = JSON.parse(request.body) as JsonObject;
      if (message["method"] === "server/discover") return onProbe(message, response, request);
      if (message["method"] === "initialize") return refuse(response, message, 400, { code: -32022, message: "no" });
      reply(response, message, { resultType: "complete", headers: request.headers });
    });
  }

  test("is recognised, and every request of the session names version and method", async () => {
    await using server = await modernServer();
    const session = await connectTo(server);
    expect(session).toMatchObject({ era: "modern", protocol: { era: "modern", transport: "http" } });
    expect((await session.request("tools/call", { name: "größe" }))["headers"]).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "=?base64?Z3LDtsOfZQ==?=",
    });
    await session.close();
    expect(server.seen[0]?.headers).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "server/discover",
    });
    expect(JSON.parse(server.seen[0]?.body ?? "")).toMatchObject({
      params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
    });
    expect(asked(server)).toEqual(["server/discover", "tools/call"]);
  });

  test("that refuses our version once is asked again", async () => {
    let refusals = 1;
    await using server = await modernServer((message, response) => {
      refusals -= 1;
      if (refusals < 0) reply(response, message, discover);
      else refuse(response, message, 400, { code: -32022, message: "no", data: { supported: ["2026-07-28"] } });
    });
    const session = await connectTo(server);
    expect(session.era).toBe("modern");
    await session.close();
    expect(asked(server)).toEqual(["server/discover", "server/discover"]);
  });

  test.each([
    [400, -32020],
    [400, -32021],
  ])("that refuses the probe with %d and %d is not taken for a legacy one", async (status, code) => {
    await using server = await modernServer((message, response) =>
      refuse(response, message, status, { code, message: "no" }),
    );
    expect(await failure(connectTo(server, {}, "http-or-sse"))).toMatchObject({
      code: "rpc",
      evidence: { rpc: { code }, step: "probe" },
    });
    expect(asked(server)).toEqual(["server/discover"]);
  });

  test.each<[string, JsonObject, string]>([
    ["in _meta", { _meta: { "io.modelcontextprotocol/serverInfo": { name: "meta", version: "1" } } }, "meta"],
    ["in the result", { serverInfo: { name: "plain", version: "1" } }, "plain"],
    [
      "in both",
      {
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "meta", version: "1" } },
        serverInfo: { name: "plain", version: "1" },
      },
      "meta",
    ],
    ["nowhere", {}, "unknown"],
  ])("that says %s who it is is called so", async (_, where, name) => {
    const greeting = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {}, ...where };
    await using server = await modernServer((message, response) => reply(response, message, greeting));
    const session = await connectTo(server);
    expect(session.serverInfo.name).toBe(name);
    await session.close();
  });

  test("that was legacy before is found out", async () => {
    await using server = await modernServer();
    const session = await connectTo(server, { era: { era: "legacy", transport: "http" } });
    expect(session.era).toBe("modern");
    await session.close();
    expect(asked(server)).toEqual(["initialize", "server/discover"]);
  });

  test("that is not modern any more is found out", async () => {
    await using server = await legacyServer((_, response) => send(response, 400));
    const session = await connectTo(server, { era: { era: "modern", transport: "http" } });
    expect(session.era).toBe("legacy");
    await session.close();
  });
});

const onlyWithToken: Answer = (message, response, { headers }) =>
  headers.authorization === undefined ? send(response, 401) : reply(response, message, discover);

/** Has a token after the first challenge. */
function signIn(onChallenge = (): unknown => undefined): AuthHook {
  let token: string | undefined;
  return {
    headers: async (): Promise<Record<string, string>> => (token === undefined ? {} : { authorization: token }),
    async challenged() {
      onChallenge();
      token = "Bearer abc";
      return true;
    },
  };
}

describe("an outage is not an era", () => {
  test.each<[string, Answer, JsonObject]>([
    [
      "500",
      (_, response) => send(response, 500),
      { code: "http_status", evidence: { httpStatus: 500, step: "probe" } },
    ],
    [
      "503 with an error",
      (message, response) => refuse(response, message, 503, { code: -1, message: "busy" }),
      { code: "rpc", evidence: { httpStatus: 503 } },
    ],
    ["a broken connection", (_, response) => response.destroy(), { code: "unreachable", evidence: { step: "probe" } }],
    ["401", (_, response) => send(response, 401), { code: "unauthorized", evidence: { step: "probe" } }],
    ["403", (_, response) => send(response, 403), { code: "unauthorized", evidence: { step: "probe" } }],
  ])("%s ends the attempt", async (_, onProbe, expected) => {
    await using server = await legacyServer(onProbe);
    expect(await failure(connectTo(server, {}, "http-or-sse"))).toMatchObject(expected);
    expect(new Set(asked(server))).toEqual(new Set(["server/discover"]));
  });

  test("silence ends the attempt when its time is up", async () => {
    const time = stoppedTime();
    await using server = await legacyServer(() => time.advance(300));
    const failed = await failure(connectTo(server, { time, times: { connect: 300 } }, "http-or-sse"));
    expect(failed).toMatchObject({ code: "timeout", evidence: { step: "probe" } });
    expect(asked(server)).toEqual(["server/discover"]);
  });

  test("a server that is not there is unreachable", async () => {
    const server = await legacyServer(() => {});
    await server[Symbol.asyncDispose]();
    expect(await failure(connectTo(server))).toMatchObject({ code: "unreachable", evidence: { step: "probe" } });
  });

  test("after signing in, the probe is answered as if nothing had happened", async () => {
    await using server = await legacyServer(onlyWithToken);
    const session = await connectTo(server, { auth: signIn() });
    expect(session.era).toBe("modern");
    await session.close();
    expect(asked(server)).toEqual(["server/discover", "server/discover"]);
  });

  test("the time in which a person signs in does not count", async () => {
    await using server = await legacyServer(onlyWithToken);
    const time = stoppedTime();
    const auth = signIn(() => time.advance(600_000));
    const session = await connectTo(server, { auth, time, times: { connect: 300 } });
    expect(session.era).toBe("modern");
    await session.close();
  });

  test("giving up while the server is silent is a cancellation", async () => {
    const caller = new AbortController();
    await using server = await legacyServer(() => caller.abort());
    expect(await failure(connectTo(server, { signal: caller.signal }))).toMatchObject({ code: "cancelled" });
    expect(asked(server)).toEqual(["server/discover"]);
  });
});

describe("the older HTTP+SSE", () => {
  /** A server that knows only HTTP+SSE and refuses everything else with this status. */
  function sseServer(status: number): Promise<WebServer> {
    let stream: ServerResponse | undefined;
    return webServer((request, response) => {
      if (request.method === "GET") {
        stream = response.writeHead(200, { "content-type": "text/event-stream" });
        stream.write("event: endpoint\ndata: /messages\n\n");
        return;
      }
      if (request.path !== "/messages") return send(response, status);
      send(response, 202);
      const message = JSON.parse(request.body) as JsonObject;
      if (message["id"] === undefined) return;
      const result =
        message["method"] === "initialize" ? { ...hello, protocolVersion: "2024-11-05" } : { echo: message["method"] };
      stream?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: message["id"], result })}\n\n`);
    });
  }

  test.each([[400], [404], [405], [406], [415]])("is tried when streamable HTTP is refused with %d", async (status) => {
    await using server = await sseServer(status);
    const session = await connectTo(server, {}, "http-or-sse");
    expect(session).toMatchObject({
      era: "legacy",
      protocolVersion: "2024-11-05",
      protocol: { era: "legacy", transport: "sse" },
    });
    expect(await session.request("tools/list")).toEqual({ echo: "tools/list" });
    await session.close();
    expect(asked(server)).toEqual([
      "server/discover",
      "initialize",
      "GET",
      "initialize",
      "notifications/initialized",
      "tools/list",
    ]);
  });

  test("is not tried when it was not asked for", async () => {
    await using server = await sseServer(404);
    expect(await failure(connectTo(server, {}, "http"))).toMatchObject({
      code: "http_status",
      evidence: { httpStatus: 404, step: "initialize" },
    });
    expect(asked(server)).toEqual(["server/discover", "initialize"]);
  });

  test("is used at once when the target, or what was learnt, says so", async () => {
    const learnt: NegotiatedProtocol = { era: "legacy", transport: "sse" };
    for (const [kind, options] of [
      ["sse", {}],
      ["sse", { era: "modern" }],
      ["http-or-sse", { era: learnt }],
    ] as const) {
      await using server = await sseServer(404);
      const session = await connectTo(server, options, kind);
      expect(session.protocol).toEqual(learnt);
      await session.close();
      expect(asked(server)).toEqual(["GET", "initialize", "notifications/initialized"]);
    }
  });

  test("that is gone is given up for streamable HTTP", async () => {
    await using server = await legacyServer((_, response) => send(response, 400));
    const session = await connectTo(server, { era: { era: "legacy", transport: "sse" } }, "http-or-sse");
    expect(session.protocol).toEqual({ era: "legacy", transport: "http" });
    await session.close();
  });

  test("that opens a stream and says nothing on it is given up in time", async () => {
    await using server = await webServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": patience\n\n");
    });
    expect(await failure(connectTo(server, { times: { connect: 200 } }, "sse"))).toMatchObject({
      code: "timeout",
      evidence: { step: "connect" },
    });
  });

  test("if both are refused, the first refusal is told", async () => {
    await using server = await webServer((request, response) => send(response, request.method === "POST" ? 404 : 400));
    expect(await failure(connectTo(server, {}, "http-or-sse"))).toMatchObject({
      code: "http_status",
      evidence: { httpStatus: 404, step: "initialize" },
    });
    expect(asked(server)).toEqual(["server/discover", "initialize", "GET"]);
  });

  test("if it wants a sign-in, that is told", async () => {
    await using server = await webServer((request, response) => send(response, request.method === "POST" ? 404 : 401));
    expect(await failure(connectTo(server, {}, "http-or-sse"))).toMatchObject({ code: "unauthorized" });
  });
});
