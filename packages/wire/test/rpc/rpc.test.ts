import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { RpcMessage } from "../../src/rpc/channel.ts";
import type { JsonObject, Progress } from "../../src/session.ts";
import { failure, memoryServer, obligingServer, rpcTo } from "../support/memory-server.ts";

const progress = (token: unknown, rest: JsonObject): RpcMessage => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken: token, ...rest },
});

describe("answers", () => {
  test("a result reaches the request with its id, in whatever order they come", async () => {
    await using rpc = await rpcTo(memoryServer());
    const { server } = rpc;
    const results = Promise.all(["a", "b", "c"].map((name) => rpc.request("tools/call", { name })));
    for (const request of server.sent.toReversed())
      server.result(request, { name: (request["params"] as JsonObject)["name"] });
    expect(await results).toEqual([{ name: "a" }, { name: "b" }, { name: "c" }]);
  });

  test("our numeric ids are recognised when they come back as strings", async () => {
    await using rpc = await rpcTo(memoryServer());
    const { server } = rpc;
    const result = rpc.request("ping");
    server.say({ jsonrpc: "2.0", id: "1", result: { fine: true } });
    expect(await result).toEqual({ fine: true });
  });

  test("answers to unknown requests are ignored and counted, and never reach another request", async () => {
    await using rpc = await rpcTo(memoryServer());
    const { server, diagnostics } = rpc;
    const first = rpc.request("a");
    const second = rpc.request("b");
    for (const id of [null, undefined, 3, "3", "01", "1.0", " 1", 1.5, -1, true, [1], { id: 1 }])
      server.say({ jsonrpc: "2.0", id, result: { wrong: true } });
    server.result({ id: 1 }, { right: 1 });
    server.result({ id: 1 }, { again: true });
    server.error({ id: 1 }, -1);
    server.result({ id: 2 }, { right: 2 });
    expect(await Promise.all([first, second])).toEqual([{ right: 1 }, { right: 2 }]);
    expect(diagnostics).toEqual([
      "a response to an unknown request was ignored",
      "a response to an unknown request was ignored (10 times by now)",
    ]);
  });

  test.each([
    ["no code", { message: "broken" }, 0, "broken"],
    ["a code that is a word", { code: "EFAIL", message: "broken" }, 0, "broken"],
    ["a code that is a number in quotes", { code: "-32601", message: "broken" }, -32601, "broken"],
    ["a null code", { code: null, message: "broken" }, 0, "broken"],
    ["no message", { code: -5 }, -5, "x failed: the server gave no reason"],
    ["just a string", "broken", 0, "broken"],
    ["an empty list", [], 0, "x failed: the server gave no reason"],
  ])("an error with %s fails the request at once", async (_, error, code, message) => {
    await using rpc = await rpcTo(memoryServer());
    const { server } = rpc;
    const failed = failure(rpc.request("x"));
    server.say({ jsonrpc: "2.0", id: 1, error });
    expect(await failed).toMatchObject({ code: "rpc", message, evidence: { rpc: { code }, step: "x" } });
  });

  test("the data of an error comes along", async () => {
    await using rpc = await rpcTo(memoryServer());
    const { server } = rpc;
    const failed = failure(rpc.request("x"));
    server.error({ id: 1 }, -32042, "sign in", { url: "https://example.com" });
    expect((await failed).evidence.rpc).toEqual({ code: -32042, data: { url: "https://example.com" } });
  });

  test("a result beside a null error is a result, and null is an empty one", async () => {
    await using rpc = await rpcTo(memoryServer());
    const { server } = rpc;
    const results = [rpc.request("x"), rpc.request("y")];
    server.say({ jsonrpc: "2.0", id: 1, error: null, result: { ok: 1 } }, { jsonrpc: "2.0", id: 2, result: null });
    expect(await Promise.all(results)).toEqual([{ ok: 1 }, {}]);
  });

  test.each([[[]], ["text"], [7], [undefined]])("a result that is %j is a bad message", async (result) => {
    await using rpc = await rpcTo(memoryServer());
    const { server } = rpc;
    const failed = failure(rpc.request("x"));
    server.say({ jsonrpc: "2.0", id: 1, result });
    expect(await failed).toMatchObject({ code: "bad_message", evidence: { step: "x" } });
  });

  test("what arrives while the channel opens is not lost", async () => {
    const heard: string[] = [];
    const server = memoryServer();
    await using _rpc = await rpcTo(
      {
        ...server,
        open: async (events, signal) => {
          const channel = await server.open(events, signal);
          server.say({ jsonrpc: "2.0", method: "notifications/message" }, { jsonrpc: "2.0", id: 9, method: "ping" });
          return channel;
        },
      },
      { onNotification: (method) => void heard.push(method) },
    );
    expect(heard).toEqual(["notifications/message"]);
    expect(server.sent).toEqual([{ jsonrpc: "2.0", id: 9, result: {} }]);
  });
});

describe("what is sent", () => {
  test("goes with a signal of its own, unless all requests share one stream", async () => {
    for (const oneStream of [false, true]) {
      await using rpc = await rpcTo(obligingServer(), { oneStream });
      const { server } = rpc;
      await rpc.request("x");
      expect(server.sendOptions[0]?.signal instanceof AbortSignal).toBe(!oneStream);
    }
  });

  test("parameters as they are, and none if there are none", async () => {
    await using rpc = await rpcTo(obligingServer());
    const { server } = rpc;
    await rpc.request("tools/list");
    await rpc.request("tools/list", { cursor: "x" });
    await rpc.notify("notifications/initialized");
    expect(server.sent).toEqual([
      { jsonrpc: "2.0", id: 1, method: "tools/list" },
      { jsonrpc: "2.0", id: 2, method: "tools/list", params: { cursor: "x" } },
      { jsonrpc: "2.0", method: "notifications/initialized" },
    ]);
  });

  test("a progress token is the request's id and leaves the caller's own _meta alone", async () => {
    await using rpc = await rpcTo(obligingServer());
    const { server } = rpc;
    await rpc.request("tools/call", { name: "a", _meta: { mine: 1, progressToken: "mine" } }, { token: true });
    await rpc.request("tools/call", undefined, { onProgress: () => {} });
    expect(server.sent.map(({ params }) => params)).toEqual([
      { name: "a", _meta: { mine: 1, progressToken: 1 } },
      { _meta: { progressToken: 2 } },
    ]);
  });

  test("a key called __proto__ in _meta stays an ordinary key", async () => {
    await using rpc = await rpcTo(obligingServer());
    const { server } = rpc;
    const meta = JSON.parse('{"__proto__":{"polluted":true}}') as JsonObject;
    await rpc.request("tools/call", { _meta: meta }, { token: true });
    expect(JSON.stringify(server.sent[0])).toContain('{"__proto__":{"polluted":true},"progressToken":1}');
    expect(({} as JsonObject)["polluted"]).toBeUndefined();
  });

  test("every message passes the caller's log, both ways", async () => {
    const log: unknown[] = [];
    await using rpc = await rpcTo(memoryServer(), {
      onMessage: (direction, message) => log.push([direction, message]),
    });
    const { server } = rpc;
    const result = rpc.request("ping");
    server.result({ id: 1 }, {});
    await result;
    expect(log).toEqual([
      ["sent", { jsonrpc: "2.0", id: 1, method: "ping" }],
      ["received", { jsonrpc: "2.0", id: 1, result: {} }],
    ]);
  });

  test("a message that the channel loses fails its own request only", async () => {
    const server = memoryServer({
      onSend: ({ method }) => {
        if (method === "lost") throw new WireError("unreachable", "no route", { unsent: true });
      },
    });
    await using rpc = await rpcTo(server);
    const kept = rpc.request("kept");
    expect(await failure(rpc.request("lost"))).toMatchObject({
      code: "unreachable",
      evidence: { unsent: true, step: "lost" },
    });
    server.result({ id: 1 }, { ok: true });
    expect(await kept).toEqual({ ok: true });
  });
});

describe("progress", () => {
  test("the last progress is delivered before the result that came with it", async () => {
    await using rpc = await rpcTo(memoryServer());
    const { server } = rpc;
    const told: unknown[] = [];
    const result = rpc
      .request("tools/call", {}, { onProgress: (step) => void told.push(step) })
      .then((value) => told.push(value));
    server.say(
      progress(1, { progress: 1, total: 2 }),
      progress("1", { progress: 2, total: 2, message: "done" }),
      { jsonrpc: "2.0", id: 1, result: { content: [] } },
      progress(1, { progress: 3 }),
    );
    await result;
    expect(told).toEqual([{ progress: 1, total: 2 }, { progress: 2, total: 2, message: "done" }, { content: [] }]);
  });

  test("what is no progress is not told, and a listener that throws ends no request", async () => {
    await using rpc = await rpcTo(memoryServer());
    const { server, diagnostics } = rpc;
    const told: Progress[] = [];
    const onProgress = (step: Progress): void => {
      told.push(step);
      throw new Error("oh");
    };
    const result = rpc.request("x", {}, { onProgress });
    server.say(
      progress(1, {}),
      progress(1, { progress: "2" }),
      progress(1, { progress: 3, total: "many", message: 4 }),
      progress(7, { progress: 1 }),
      progress(null, { progress: 1 }),
    );
    server.result({ id: 1 }, {});
    await result;
    expect(told).toEqual([{ progress: 3 }]);
    expect(diagnostics).toEqual(["a progress listener of x failed: oh", "progress of an unknown request was ignored"]);
  });
});

describe("the end", () => {
  test("when the server goes, every open request fails at once with why", async () => {
    await using rpc = await rpcTo(memoryServer());
    const { server } = rpc;
    const open = [failure(rpc.request("a")), failure(rpc.request("b"))];
    const cause = new WireError("exited", "the server exited with code 3", { exitCode: 3, stderr: "no API key" });
    server.hangUp(cause);
    expect(await Promise.all(open)).toMatchObject([
      { code: "exited", cause, evidence: { exitCode: 3, stderr: "no API key", step: "a" } },
      { code: "exited", cause, evidence: { exitCode: 3, stderr: "no API key", step: "b" } },
    ]);
    expect(await rpc.closed).toBe(cause);
    expect(await failure(rpc.request("c"))).toMatchObject({ code: "closed", cause, evidence: { unsent: true } });
    expect(await failure(rpc.notify("d"))).toMatchObject({ code: "closed", evidence: { unsent: true } });
  });

  test("closing ends open requests, closes the channel once, and has no cause", async () => {
    await using rpc = await rpcTo(memoryServer());
    const { server } = rpc;
    const open = failure(rpc.request("a"));
    await Promise.all([rpc.close(), rpc.close()]);
    expect(await open).toMatchObject({ code: "closed", evidence: { step: "a" } });
    expect(await rpc.closed).toBeUndefined();
    expect(server.closings()).toBe(1);
    expect(await failure(rpc.request("b"))).toMatchObject({ code: "closed" });
  });

  test("what comes after the end is not heard", async () => {
    const heard: string[] = [];
    await using rpc = await rpcTo(memoryServer(), { onNotification: (method) => void heard.push(method) });
    const { server } = rpc;
    await rpc.close();
    server.say({ jsonrpc: "2.0", method: "notifications/message" }, { jsonrpc: "2.0", id: 1, method: "ping" });
    expect(heard).toEqual([]);
    expect(server.sent).toEqual([]);
  });
});

test("what cannot be written as JSON fails its own request, also where the channel throws at once", async () => {
  const server = memoryServer();
  await using rpc = await rpcTo({
    ...server,
    open: async (events, signal) => ({
      ...(await server.open(events, signal)),
      send: (message) => Promise.resolve(void JSON.stringify(message)),
    }),
  });
  expect(await failure(rpc.request("x", { big: 1n }))).toMatchObject({ evidence: { step: "x" } });
  await rpc.notify("fine");
});
