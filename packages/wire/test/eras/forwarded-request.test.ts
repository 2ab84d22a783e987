import { describe, expect, test } from "vitest";
import { createLegacySession } from "../../src/eras/legacy-session.ts";
import type { JsonObject, McpRequestOptions, RequestHandler } from "../../src/session.ts";
import { collected, turn } from "../support/collected.ts";
import { memoryServer, obligingServer, rpcTo } from "../support/memory-server.ts";
import { clientInfo, modernSession } from "../support/modern-session.ts";

const question = { method: "elicitation/create", params: { message: "who?" } };
const inputRequired = { resultType: "input_required", inputRequests: { q: question }, requestState: "s" };

describe("a modern request of another client", () => {
  test("declares the client's capabilities and log level, and only this request does", async () => {
    const server = obligingServer();
    await using session = await modernSession(server);
    const meta = { traceparent: "00-1", "io.modelcontextprotocol/protocolVersion": "1999-01-01" };
    await session.request("tools/call", { name: "a" }, { meta, capabilities: { sampling: {} }, logLevel: "info" });
    await session.request("tools/list");
    expect(server.sent.map(({ params }) => (params as JsonObject)["_meta"])).toEqual([
      {
        progressToken: 1,
        traceparent: "00-1",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
        "io.modelcontextprotocol/clientInfo": clientInfo,
        "io.modelcontextprotocol/logLevel": "info",
      },
      {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
        "io.modelcontextprotocol/clientInfo": clientInfo,
      },
    ]);
  });

  test("gets the server's questions as its result if the caller answers them", async () => {
    const server = memoryServer();
    await using session = await modernSession(server, { onRequest: async () => ({ action: "accept" }) });
    const asking = session.request("tools/call", { name: "a" }, { input: "caller" });
    server.result(await server.heard("tools/call"), inputRequired);
    expect(await asking).toEqual(inputRequired);
    expect(server.sent).toHaveLength(1);
  });

  test("answers the server's questions itself, and is announced once", async () => {
    const server = memoryServer();
    await using session = await modernSession(server, { onRequest: async () => ({ action: "cancel" }) });
    let announced = 0;
    const asking = session.request(
      "tools/call",
      { name: "a" },
      {
        answer: async () => ({ action: "accept" }),
        async beforeSend() {
          announced += 1;
        },
      },
    );
    server.result(await server.heard("tools/call"), inputRequired);
    const repeated = await server.heard("tools/call", 2);
    expect(repeated["params"]).toMatchObject({ inputResponses: { q: { action: "accept" } }, requestState: "s" });
    server.result(repeated, { content: [] });
    await asking;
    expect(announced).toBe(1);
  });

  test("gets log messages if it is the only one that asked for them", async () => {
    const server = memoryServer();
    await using session = await modernSession(server);
    const heard = collected<string>();
    const call = (owner: string, options: McpRequestOptions = {}): void => {
      const onNotification = (): void => heard.add(owner);
      session.request("tools/call", { name: "a" }, { owner, onNotification, ...options }).catch(() => undefined);
    };
    call("a", { logLevel: "info" });
    call("b");
    server.say({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } });
    expect(heard.items).toEqual(["a"]);
    call("c", { logLevel: "info" });
    server.say({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } });
    expect(heard.items).toEqual(["a"]);
  });

  test("answers the questions of the task that the server made of it", async () => {
    const server = memoryServer();
    await using session = await modernSession(server, { onRequest: async () => ({ action: "cancel" }) });
    const asking = session.request("tools/call", { name: "a" }, { answer: async () => ({ action: "accept" }) });
    const task = { taskId: "t", status: "input_required", inputRequests: { q: question } };
    server.result(await server.heard("tools/call"), { resultType: "task", ...task });
    const update = await server.heard("tasks/update");
    expect(update["params"]).toMatchObject({ inputResponses: { q: { action: "accept" } } });
    server.result(update, { resultType: "complete" });
    const done = { taskId: "t", status: "completed", result: { content: [] } };
    server.say({ jsonrpc: "2.0", method: "notifications/tasks", params: done });
    expect(await asking).toEqual({ content: [], resultType: "complete" });
  });
});

test("the questions of a legacy task are answered by the request that began it", async () => {
  const server = memoryServer();
  await using rpc = await rpcTo(server, { onRequest: async () => ({ action: "cancel" }) });
  const capabilities = { tasks: {} };
  const serverInfo = { name: "memory", version: "1" };
  const session = createLegacySession(rpc, { protocolVersion: "2025-11-25", serverInfo, capabilities }, "http");
  const answer: RequestHandler = async () => ({ action: "accept" });
  const asking = session.request("tools/call", { name: "a" }, { asTask: true, owner: "a", answer });
  server.result(await server.heard("tools/call"), { task: { taskId: "t", status: "input_required" } });
  const waiting = await server.heard("tasks/result");
  server.sayAbout(Number(waiting["id"]), { jsonrpc: "2.0", id: 1, ...question });
  await turn();
  expect(server.sent.at(-1)).toEqual({ jsonrpc: "2.0", id: 1, result: { action: "accept" } });
  server.result(waiting, { content: [] });
  expect(await asking).toEqual({ content: [] });
});
