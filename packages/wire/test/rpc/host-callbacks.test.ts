import { describe, expect, test } from "vitest";
import { connect } from "../../src/connect.ts";
import type { ConnectOptions } from "../../src/target.ts";
import { failure, memoryServer, rpcTo } from "../support/memory-server.ts";
import { clientInfo } from "../support/modern-session.ts";
import { script } from "../support/stdio-server.ts";

/** Answers a request with what its own question was answered with; noisy on stdout and stderr. */
const curious = `
  const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  let asked;
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, result, error } = JSON.parse(line);
    console.log("noise");
    console.error("noise");
    if (method === "initialize") say({ id, result: { protocolVersion: "2025-11-25", capabilities: {} } });
    else if (method === undefined) say({ id: asked, result: { answer: error ?? result } });
    else if (id !== undefined) say({ id: "q", method: "roots/list" }), (asked = id);
  });`;

const wordless = {
  toString() {
    throw new Error("no words either");
  },
};
const fails = (): never => {
  throw wordless;
};

const failsLater: () => unknown = async () => fails();

describe("a host's callback that throws", () => {
  test.each<[string, Partial<ConnectOptions>]>([
    ["onStderr", { onStderr: fails }],
    ["onDiagnostic", { onDiagnostic: fails }],
    ["onMessage", { onMessage: fails }],
    ["all of them", { onStderr: fails, onDiagnostic: fails, onMessage: fails }],
    ["an async one", { onStderr: failsLater, onDiagnostic: failsLater }],
  ])("ends nothing, and no request hangs: %s", async (_, callbacks) => {
    const onRequest = async () => ({ roots: [] });
    const session = await connect(script(curious), { clientInfo, era: "legacy", onRequest, ...callbacks });
    expect(await session.request("x")).toEqual({ answer: { roots: [] } });
    await session.close();
    expect(await session.closed).toBeUndefined();
  });

  test("is told of, a few times", async () => {
    const told: string[] = [];
    const session = await connect(script(curious), {
      clientInfo,
      era: "legacy",
      onRequest: async () => ({}),
      onMessage: fails,
      onDiagnostic: (text) => void told.push(text),
    });
    for (let i = 0; i < 10; i += 1) await session.request("x");
    await session.close();
    const mine = told.filter((text) => text.startsWith("onMessage failed: unknown error"));
    expect(mine).toHaveLength(2);
  });

  test("as a handler, with something that has no words, is answered all the same", async () => {
    const session = await connect(script(curious), { clientInfo, era: "legacy", onRequest: fails });
    expect(await session.request("x")).toEqual({
      answer: { code: -32603, message: "unknown error" },
    });
    await session.close();
  });

  test("as a listener, with something that has no words, does not keep the others from hearing", async () => {
    const server = memoryServer();
    await using rpc = await rpcTo(server, { onNotification: fails });
    const { diagnostics } = rpc;
    const heard: string[] = [];
    rpc.onNotification((method) => void heard.push(method));
    const result = rpc.request("x", {}, { onProgress: fails });
    server.say(
      { jsonrpc: "2.0", method: "notifications/message" },
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } },
    );
    server.result({ id: 1 }, {});
    expect(await result).toEqual({});
    expect(heard).toEqual(["notifications/message"]);
    expect(diagnostics).toHaveLength(2);
  });
});

describe("a handler's answer that cannot be sent", () => {
  const circular: Record<string, unknown> = {};
  circular["itself"] = circular;

  test.each<[string, Record<string, unknown>]>([
    ["a number that JSON does not have", { big: 1n }],
    ["a circle", circular],
    ["more than fits into a message", { text: "x".repeat(10_000) }],
  ])("because it is %s is an internal error to the server", async (_, answer) => {
    const session = await connect(script(curious), {
      clientInfo,
      era: "legacy",
      limits: { messageBytes: 5_000 },
      onRequest: async () => answer,
    });
    expect(await session.request("x")).toMatchObject({ answer: { code: -32603 } });
    await session.close();
  });

  test("because there is none is an empty one", async () => {
    const nothing: ConnectOptions["onRequest"] = async () => JSON.parse("{}")["nothing"];
    const session = await connect(script(curious), { clientInfo, era: "legacy", onRequest: nothing });
    expect(await session.request("x")).toEqual({ answer: {} });
    await session.close();
  });
});

test("a message that makes its handling fail ends neither the stream nor other requests", async () => {
  const server = memoryServer();
  await using rpc = await rpcTo(server, {
    // What a careless reader would do.
    onMessage: (_, message) => void JSON.stringify(message),
  });
  const { diagnostics } = rpc;
  const result = rpc.request("x");
  const deep = JSON.parse(`${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`);
  server.say(deep);
  server.result({ id: 1 }, { ok: true });
  expect(await result).toEqual({ ok: true });
  expect(diagnostics.join()).toContain("could not be handled");
  await rpc.close();
  expect(await failure(rpc.request("x"))).toMatchObject({ code: "closed" });
});
