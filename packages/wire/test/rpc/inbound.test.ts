import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { JsonObject, RequestHandler } from "../../src/session.ts";
import { defaultLimits } from "../../src/target.ts";
import { turn } from "../support/collected.ts";
import { failure, memoryServer, rpcTo } from "../support/memory-server.ts";
import { stoppedTime } from "../support/simulated-time.ts";

const ask = (id: unknown, method: string, params?: unknown): JsonObject => ({ jsonrpc: "2.0", id, method, params });

/** A handler whose answers a test gives itself. */
function slowHandler(): { handler: RequestHandler; answer: (result: JsonObject) => void; signals: AbortSignal[] } {
  const answers: ((result: JsonObject) => void)[] = [];
  const signals: AbortSignal[] = [];
  return {
    handler: (_method, _params, signal) =>
      new Promise((resolve) => {
        signals.push(signal);
        answers.push(resolve);
      }),
    answer: (result) => answers.shift()?.(result),
    signals,
  };
}

test("open requests have a limit in bytes together, and its room comes back", async () => {
  const server = memoryServer();
  const { handler, answer } = slowHandler();
  // A message of this server counts as 100 bytes.
  const limits = { ...defaultLimits, inboundBytes: 250 };
  await using _rpc = await rpcTo(server, { onRequest: handler, limits });
  server.say(ask(1, "a"), ask(2, "b"), ask(3, "c"));
  await turn();
  const refusal = { code: -32000, message: "the open requests together would be larger than 250 bytes" };
  expect(server.sent).toEqual([{ jsonrpc: "2.0", id: 3, error: refusal }]);
  answer({});
  await turn();
  server.say(ask(4, "d"), { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } }, ask(5, "e"));
  await turn();
  expect(server.sent.filter(({ error }) => error)).toHaveLength(1);
});

describe("a request of the server", () => {
  test("is answered by the handler, under its own id", async () => {
    const server = memoryServer();
    await using _rpc = await rpcTo(server, { onRequest: async (method, params) => ({ method, params }) });
    server.say(ask("a", "roots/list"), ask(1, "elicitation/create", { message: "who?" }), ask(0, "x", [1]));
    await turn();
    expect(server.sent).toEqual([
      { jsonrpc: "2.0", id: "a", result: { method: "roots/list", params: {} } },
      { jsonrpc: "2.0", id: 1, result: { method: "elicitation/create", params: { message: "who?" } } },
      { jsonrpc: "2.0", id: 0, result: { method: "x", params: {} } },
    ]);
  });

  test("with the id of one of ours is not taken for its answer", async () => {
    const server = memoryServer();
    await using rpc = await rpcTo(server, { onRequest: async () => ({ roots: [] }) });
    const ours = rpc.request("tools/call");
    server.say(ask(1, "roots/list"));
    server.result({ id: 1 }, { mine: true });
    expect(await ours).toEqual({ mine: true });
  });

  test("without a handler is refused, but a ping is answered all the same", async () => {
    const server = memoryServer();
    await using _rpc = await rpcTo(server);
    server.say(ask(1, "sampling/createMessage"), ask(2, "ping"));
    expect(server.sent).toEqual([
      { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "sampling/createMessage is not supported" } },
      { jsonrpc: "2.0", id: 2, result: {} },
    ]);
  });

  test.each([
    ["an error of its own", new Error("no model"), { code: -32603, message: "no model" }],
    [
      "a chosen JSON-RPC error",
      new WireError("rpc", "rejected", { rpc: { code: -1, data: { by: "user" } } }),
      { code: -1, message: "rejected", data: { by: "user" } },
    ],
    ["something odd", "just text", { code: -32603, message: "just text" }],
  ])("whose handler throws %s gets an error reply", async (_, thrown, error) => {
    const server = memoryServer();
    await using _rpc = await rpcTo(server, {
      onRequest: () => {
        throw thrown;
      },
    });
    server.say(ask(1, "sampling/createMessage"));
    await turn();
    expect(server.sent).toEqual([{ jsonrpc: "2.0", id: 1, error }]);
  });

  test("over the limit is told that we are busy, and a place that is free again is used", async () => {
    const server = memoryServer();
    const { handler, answer } = slowHandler();
    await using _rpc = await rpcTo(server, { onRequest: handler, limits: { ...defaultLimits, inboundRequests: 2 } });
    server.say(ask(1, "a"), ask(2, "b"), ask(3, "c"), ask(4, "ping"));
    expect(server.sent).toEqual([
      { jsonrpc: "2.0", id: 3, error: { code: -32000, message: "already answering 2 requests" } },
      { jsonrpc: "2.0", id: 4, result: {} },
    ]);
    answer({ first: true });
    await turn();
    expect(server.sent.at(-1)).toEqual({ jsonrpc: "2.0", id: 1, result: { first: true } });
    server.say(ask(5, "d"));
    answer({ second: true });
    answer({ third: true });
    await turn();
    expect(server.sent.slice(3)).toEqual([
      { jsonrpc: "2.0", id: 2, result: { second: true } },
      { jsonrpc: "2.0", id: 5, result: { third: true } },
    ]);
  });

  test("asked twice under one id, or under no usable one, is answered once at most", async () => {
    const server = memoryServer();
    const { handler, answer } = slowHandler();
    await using opened = await rpcTo(server, { onRequest: handler });
    const { diagnostics } = opened;
    server.say(ask(1, "a"), ask(1, "a"), ask(null, "b"), ask({}, "c"));
    answer({});
    await turn();
    expect(server.sent).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
    expect(diagnostics).toEqual([
      "the server sent a twice with the same id",
      "the server sent the request b, which was ignored",
    ]);
  });

  test("that the server takes back stops its handler and is not answered", async () => {
    const server = memoryServer();
    const { handler, answer, signals } = slowHandler();
    await using _rpc = await rpcTo(server, { onRequest: handler });
    server.say(ask("q", "elicitation/create"), {
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: "q" },
    });
    expect(signals[0]?.aborted).toBe(true);
    answer({ action: "accept" });
    server.say(ask("r", "ping"));
    await turn();
    expect(server.sent).toEqual([{ jsonrpc: "2.0", id: "r", result: {} }]);
  });

  test("is given up with the conversation", async () => {
    const server = memoryServer();
    const { handler, signals } = slowHandler();
    await using rpc = await rpcTo(server, { onRequest: handler });
    server.say(ask(1, "elicitation/create"));
    await rpc.close();
    expect(signals[0]?.aborted).toBe(true);
  });

  test("stays unanswered in an era that has none", async () => {
    const server = memoryServer();
    await using rpc = await rpcTo(server, { onRequest: async () => ({}) });
    const { diagnostics } = rpc;
    rpc.ignoreRequests();
    server.say(ask(1, "roots/list"), ask(2, "ping"));
    expect(server.sent).toEqual([]);
    expect(diagnostics).toEqual(["the server sent the request roots/list, which was ignored"]);
  });

  test("is named in few words, however long its name is", async () => {
    const server = memoryServer();
    await using opened = await rpcTo(server);
    const { diagnostics } = opened;
    const long = "x".repeat(1_000_000);
    server.say(ask(1, long), ask(null, long));
    expect(JSON.stringify([server.sent, diagnostics]).length).toBeLessThan(1000);
  });

  test("a reply that cannot be sent causes no error", async () => {
    const server = memoryServer({
      onSend: () => {
        throw new WireError("send_blocked", "the pipe is full");
      },
    });
    await using opened = await rpcTo(server);
    const { diagnostics } = opened;
    server.say(ask(1, "ping"));
    await turn();
    expect(diagnostics).toEqual(["a response was lost: the pipe is full"]);
  });
});

describe("the clock of our requests", () => {
  test("stands still while the server waits for a person", async () => {
    const server = memoryServer();
    const { handler, answer } = slowHandler();
    const time = stoppedTime();
    await using rpc = await rpcTo(server, { onRequest: handler, time });
    const call = rpc.request("tools/call", {}, { timeout: 20, total: 40 });
    server.say(ask("q", "elicitation/create"));
    time.advance(60_000);
    answer({ action: "accept" });
    await turn();
    time.advance(19);
    server.result({ id: 1 }, { ok: true });
    expect(await call).toEqual({ ok: true });
  });

  test("goes on when the answer has been given, or is not wanted any more", async () => {
    for (const end of ["answer", "cancel"]) {
      const server = memoryServer();
      const { handler, answer } = slowHandler();
      const time = stoppedTime();
      await using rpc = await rpcTo(server, { onRequest: handler, time });
      const failed = failure(rpc.request("tools/call", {}, { timeout: 10 }));
      server.say(ask("q", "elicitation/create"));
      if (end === "answer") answer({});
      else server.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "q" } });
      await turn();
      time.advance(10);
      expect(await failed).toMatchObject({ code: "timeout" });
    }
  });
});
