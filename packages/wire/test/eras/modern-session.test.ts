import { describe, expect, test } from "vitest";
import type { RpcMessage } from "../../src/rpc/channel.ts";
import type { JsonObject } from "../../src/session.ts";
import { failure, type MemoryServer, memoryServer, obligingServer } from "../support/memory-server.ts";
import { clientInfo, modernSession } from "../support/modern-session.ts";
import { jumpingTime } from "../support/simulated-time.ts";

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  "io.modelcontextprotocol/clientInfo": clientInfo,
};

describe("every request", () => {
  test("carries who we are, and keeps the caller's own _meta", async () => {
    const server = obligingServer();
    await using session = await modernSession(server);
    await session.request("tools/list");
    await session.request("tools/call", { name: "a", _meta: { traceparent: "00-1", progressToken: "x" } });
    expect(server.sent).toEqual([
      { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: envelope } },
      {
        jsonrpc: "2.0",
        id: 2,
        method: "tools/call",
        params: { name: "a", _meta: { traceparent: "00-1", ...envelope, progressToken: 2 } },
      },
    ]);
    expect(server.versions).toEqual(["2026-07-28"]);
  });

  test("names its method and its object in headers, where there are headers", async () => {
    const overHttp = obligingServer({ cancelBy: "stream" });
    await using session = await modernSession(overHttp, { transport: "http" });
    await session.request("resources/read", { uri: "file:///ä" });
    await session.notify("notifications/odd");
    expect(overHttp.sendOptions.map((options) => options?.headers)).toEqual([
      { "mcp-method": "resources/read", "mcp-name": "=?base64?ZmlsZTovLy/DpA==?=" },
      { "mcp-method": "notifications/odd" },
    ]);
    const overPipe = obligingServer();
    await using other = await modernSession(overPipe);
    await other.request("resources/read", { uri: "file:///ä" });
    expect(overPipe.sendOptions[0]?.headers).toEqual({});
  });

  test("says what the session knows about itself", async () => {
    await using session = await modernSession(memoryServer(), { transport: "http" });
    expect(session).toMatchObject({
      era: "modern",
      protocolVersion: "2026-07-28",
      serverInfo: { name: "memory", version: "1" },
      capabilities: { tools: {} },
      protocol: { era: "modern", transport: "http" },
    });
  });
});

describe("results", () => {
  test.each([["complete"], [undefined]])("of type %s are the caller's", async (resultType) => {
    const server = memoryServer();
    await using session = await modernSession(server);
    const result = session.request("tools/call", { name: "a" });
    server.result({ id: 1 }, { resultType, content: [] });
    expect(await result).toEqual({ resultType, content: [] });
  });

  test.each([["surprise"], [7], [null], [{}]])("of the unknown type %j are bad messages", async (resultType) => {
    const server = memoryServer();
    await using session = await modernSession(server);
    const failed = failure(session.request("tools/call", { name: "a" }));
    server.result({ id: 1 }, { resultType, content: [] });
    expect(await failed).toMatchObject({ code: "bad_message", evidence: { step: "tools/call" } });
  });
});

describe("a refusal that can be corrected", () => {
  test("of the version: sent again once, with a version that both speak", async () => {
    const server = memoryServer();
    await using session = await modernSession(server);
    const result = session.request("tools/list");
    server.error({ id: 1 }, -32022, "unsupported", { supported: ["2027-01-01", "2026-07-28"] });
    server.result(await server.heard("tools/list", 2), { tools: [] });
    expect(await result).toEqual({ tools: [] });
    expect(server.sent.map(({ id }) => id)).toEqual([1, 2]);
  });

  test.each([
    ["nothing we speak", { supported: ["2027-01-01"] }],
    ["no list", {}],
    ["nonsense", "2026-07-28"],
  ])("of the version, when the server offers %s, stays a refusal", async (_, data) => {
    const server = memoryServer();
    await using session = await modernSession(server);
    const failed = failure(session.request("tools/list"));
    server.error({ id: 1 }, -32022, "unsupported", data);
    expect(await failed).toMatchObject({ code: "rpc", evidence: { rpc: { code: -32022 } } });
  });

  test("twice in a row is a refusal", async () => {
    const server = memoryServer({
      onMessage: (message, it) => it.error(message, -32022, "no", { supported: ["2026-07-28"] }),
    });
    await using session = await modernSession(server);
    expect(await failure(session.request("tools/list"))).toMatchObject({ evidence: { rpc: { code: -32022 } } });
    expect(server.sent).toHaveLength(2);
  });

  test("of the headers: the tools are listed, and the call sent again with the headers they ask for", async () => {
    const tool = (name: string, header: string): JsonObject => ({
      name,
      inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } },
    });
    const pages: JsonObject[] = [
      { tools: [null, tool("other", "Other")], nextCursor: "2" },
      { tools: [tool("sql", "Region"), { name: "plain" }] },
    ];
    const server = memoryServer({
      cancelBy: "stream",
      onMessage(message, it) {
        const params = message["params"] as JsonObject;
        if (message["method"] === "tools/list") it.result(message, pages[params["cursor"] === "2" ? 1 : 0]);
        else if (it.sent.length === 1) it.error(message, -32020, "Mcp-Param-Region is missing");
        else it.result(message, { content: [] });
      },
    });
    await using session = await modernSession(server, { transport: "http" });
    const call = { name: "sql", arguments: { region: "eu" } };
    expect(await session.request("tools/call", call)).toEqual({ content: [] });
    expect(await session.request("tools/call", call)).toEqual({ content: [] });
    expect(server.sent.map(({ method }) => method)).toEqual([
      "tools/call",
      "tools/list",
      "tools/list",
      "tools/call",
      "tools/call",
    ]);
    const headers = { "mcp-method": "tools/call", "mcp-name": "sql" };
    expect(server.sendOptions[0]?.headers).toEqual(headers);
    expect(server.sendOptions[3]?.headers).toEqual({ ...headers, "mcp-param-region": "eu" });
    expect(server.sendOptions[4]?.headers).toEqual({ ...headers, "mcp-param-region": "eu" });
  });

  test("a tool that loses its marks loses its headers", async () => {
    const server = memoryServer();
    await using session = await modernSession(server, { transport: "http" });
    const properties = { a: { type: "string", "x-mcp-header": "A" } };
    for (const inputSchema of [{ type: "object", properties }, { type: "object" }]) {
      const listed = session.request("tools/list");
      server.result({ id: server.sent.length }, { tools: [{ name: "t", inputSchema }] });
      await listed;
      const called = session.request("tools/call", { name: "t", arguments: { a: "1" } });
      server.result({ id: server.sent.length }, { content: [] });
      await called;
    }
    const calls = server.sent.map((message, index) => [message["method"], server.sendOptions[index]?.headers]);
    expect(calls.filter(([method]) => method === "tools/call")).toEqual([
      ["tools/call", { "mcp-method": "tools/call", "mcp-name": "t", "mcp-param-a": "1" }],
      ["tools/call", { "mcp-method": "tools/call", "mcp-name": "t" }],
    ]);
  });
});

describe("the absolute limit of a request", () => {
  /** Refuses the headers of every call but never lists its tools, or lists them without end. */
  function refusing(onList: (message: RpcMessage, server: MemoryServer) => void): MemoryServer {
    return memoryServer({
      cancelBy: "stream",
      onMessage: (message, it) =>
        message["method"] === "tools/list" ? onList(message, it) : it.error(message, -32020, "no"),
    });
  }

  test("holds for all that is done for it", async () => {
    const time = jumpingTime();
    const page = (message: RpcMessage, it: MemoryServer): void =>
      void time.after(60, () => it.result(message, { tools: [], nextCursor: `${it.sent.length}` }));
    const server = refusing(page);
    await using session = await modernSession(server, { transport: "http", time });
    const failed = failure(session.request("tools/call", { name: "a" }, { total: 150 }));
    expect(await failed).toMatchObject({ code: "timeout" });
    expect(server.sent.map(({ method }) => method)).toEqual(["tools/call", "tools/list", "tools/list", "tools/list"]);
  });

  test("the progress of those lists is not told as that of the call", async () => {
    const server = refusing((message, it) => {
      it.say({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: message["id"], progress: 1 },
      });
      it.result(message, { tools: [] });
    });
    await using session = await modernSession(server, { transport: "http" });
    const told: unknown[] = [];
    await failure(session.request("tools/call", { name: "a" }, { onProgress: (step) => void told.push(step) }));
    expect(server.sent.map(({ method }) => method)).toEqual(["tools/call", "tools/list", "tools/call"]);
    expect(told).toEqual([]);
  });
});

test("a tool that is known is known anew with every list, however many there are", async () => {
  const marked = (header: string): JsonObject => ({
    type: "object",
    properties: { a: { type: "string", "x-mcp-header": header } },
  });
  const many = Array.from({ length: 10_000 }, (_, index) => ({ name: `t${index}`, inputSchema: marked("Old") }));
  const server = memoryServer();
  await using session = await modernSession(server, { transport: "http" });
  for (const tools of [many, [{ name: "t0", inputSchema: marked("New") }]]) {
    const listed = session.request("tools/list");
    server.result({ id: server.sent.length }, { tools });
    await listed;
  }
  const called = session.request("tools/call", { name: "t0", arguments: { a: "1" } });
  server.result({ id: server.sent.length }, { content: [] });
  await called;
  expect(server.sendOptions.at(-1)?.headers).toMatchObject({ "mcp-param-new": "1" });
});

describe("a subscription", () => {
  const changed = (id: unknown): RpcMessage => ({
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": id } },
  });

  test("is a request without a deadline, whose news reach the listeners", async () => {
    const server = memoryServer();
    await using session = await modernSession(server);
    const heard: string[] = [];
    session.onNotification((method) => void heard.push(method));
    const caller = new AbortController();
    const listening = session.request(
      "subscriptions/listen",
      { notifications: { toolsListChanged: true } },
      { signal: caller.signal },
    );
    server.say({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: {} }, changed(1));
    expect(heard).toEqual(["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"]);
    caller.abort();
    expect(await failure(listening)).toMatchObject({ code: "cancelled" });
    expect(server.sent[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
  });

  test("that the server ends with a result is over in peace", async () => {
    const server = memoryServer();
    await using session = await modernSession(server);
    const listening = session.request("subscriptions/listen", { notifications: {} });
    server.result({ id: 1 }, { resultType: "complete" });
    expect(await listening).toEqual({ resultType: "complete" });
  });

  test("that the server cancels is lost; other requests it cannot cancel", async () => {
    const server = memoryServer();
    await using session = await modernSession(server);
    const listening = failure(session.request("subscriptions/listen", { notifications: {} }));
    const call = session.request("tools/call", { name: "a" });
    for (const requestId of [2, 1])
      server.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
    expect(await listening).toMatchObject({ code: "stream_lost", evidence: { step: "subscriptions/listen" } });
    server.result({ id: 2 }, { content: [] });
    expect(await call).toEqual({ content: [] });
  });
});
