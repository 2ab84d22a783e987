import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import type { WireError } from "../../src/errors.ts";
import type { RpcMessage } from "../../src/rpc/channel.ts";
import { failure, memoryServer, rpcTo } from "../support/memory-server.ts";
import { jumpingTime, stoppedTime } from "../support/simulated-time.ts";

const progress = (token: unknown): RpcMessage => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken: token, progress: 1 },
});

describe("giving up", () => {
  test("progress restarts the silence, but not the whole time", async () => {
    const time = stoppedTime();
    await using rpc = await rpcTo(memoryServer(), { time });
    const { server } = rpc;
    const alive = rpc.request("alive", {}, { timeout: 200 });
    const tooLong = failure(rpc.request("too long", {}, { timeout: 200, total: 400 }));
    const silent = failure(rpc.request("silent", {}, { timeout: 200 }));
    for (let beat = 0; beat < 4; beat += 1) {
      time.advance(100);
      server.say(progress(1), progress(2));
    }
    expect(await tooLong).toMatchObject({
      code: "timeout",
      message: "too long timed out: the total time limit is reached",
    });
    expect(await silent).toMatchObject({
      code: "timeout",
      message: "silent timed out: no response or progress for 200 ms",
    });
    server.result({ id: 1 }, { ok: true });
    expect(await alive).toEqual({ ok: true });
  });

  test("silence is a timeout, and the server is told", async () => {
    await using rpc = await rpcTo(memoryServer(), { times: { request: 5 }, time: jumpingTime() });
    const { server } = rpc;
    const failed = await failure(rpc.request("slow"));
    expect(failed).toMatchObject({
      code: "timeout",
      message: "slow timed out: no response or progress for 5 ms",
      evidence: { step: "slow" },
    });
    expect(server.sent[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
  });

  test("each request has its own patience", async () => {
    await using rpc = await rpcTo(memoryServer(), { time: jumpingTime() });
    const { server } = rpc;
    const order: string[] = [];
    const note = (name: string) => (error: WireError) => void order.push(`${name} ${error.code}`);
    const waits = [
      failure(rpc.request("c", {}, { timeout: 60 })).then(note("c")),
      failure(rpc.request("a", {}, { timeout: 5 })).then(note("a")),
      failure(rpc.request("b", {}, { timeout: 60_000, total: 30 })).then(note("b")),
    ];
    const never = rpc.request("d", {}, { timeout: Number.POSITIVE_INFINITY });
    await Promise.all(waits);
    expect(order).toEqual(["a timeout", "b timeout", "c timeout"]);
    server.result({ id: 4 }, {});
    await never;
  });

  test("an abort is a cancellation, never a timeout, and carries the caller's reason", async () => {
    await using rpc = await rpcTo(memoryServer());
    const { server } = rpc;
    const caller = new AbortController();
    const failed = failure(rpc.request("tools/call", {}, { signal: caller.signal }));
    caller.abort(new Error("changed my mind"));
    const error = await failed;
    expect(error).toMatchObject({ code: "cancelled", evidence: { step: "tools/call" } });
    expect(error.cause).toEqual(new Error("changed my mind"));
    expect(server.sent[1]).toEqual({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1, reason: "tools/call was cancelled" },
    });
  });

  test("what was aborted before it began is never sent", async () => {
    await using rpc = await rpcTo(memoryServer());
    const { server } = rpc;
    const failed = await failure(rpc.request("x", {}, { signal: AbortSignal.abort() }));
    expect(failed).toMatchObject({ code: "cancelled", evidence: { unsent: true } });
    expect(server.sent).toEqual([]);
  });

  test("where every request has its own stream, ending that is enough", async () => {
    await using rpc = await rpcTo(memoryServer({ cancelBy: "stream" }));
    const { server } = rpc;
    const caller = new AbortController();
    const failed = failure(rpc.request("x", {}, { signal: caller.signal }));
    const ended = server.sendOptions[0]?.signal;
    caller.abort();
    await failed;
    expect(ended?.aborted).toBe(true);
    expect(server.sent).toHaveLength(1);
  });

  test("a quiet request is given up without a word", async () => {
    await using rpc = await rpcTo(memoryServer(), { time: jumpingTime() });
    const { server } = rpc;
    await failure(rpc.request("initialize", {}, { timeout: 1, quiet: true }));
    expect(server.sent).toHaveLength(1);
  });

  test("a late answer, and late progress, are dropped without a word", async () => {
    const time = stoppedTime();
    await using rpc = await rpcTo(memoryServer(), { time });
    const { server, diagnostics } = rpc;
    const slow = failure(rpc.request("slow", {}, { timeout: 1 }));
    time.advance(1);
    await slow;
    const next = rpc.request("next");
    server.say(progress(1));
    server.result({ id: 1 }, { late: true });
    server.result({ id: 2 }, { ok: true });
    expect(await next).toEqual({ ok: true });
    expect(diagnostics).toEqual([]);
  });

  test("many requests may share a signal, and Node does not warn of them", async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warned);
    await using rpc = await rpcTo(memoryServer());
    const caller = new AbortController();
    const failed = Array.from({ length: 50 }, () => failure(rpc.request("x", {}, { signal: caller.signal })));
    // Warnings are given in the next turn of the loop.
    await new Promise((resolve) => setImmediate(resolve));
    caller.abort();
    expect((await Promise.all(failed)).map(({ code }) => code)).toEqual(Array.from({ length: 50 }, () => "cancelled"));
    process.off("warning", warned);
    expect(warnings).toEqual([]);
  });

  test("nothing keeps listening to a caller's signal once its requests are over", async () => {
    await using rpc = await rpcTo(memoryServer({ onMessage: (message, it) => it.result(message, {}) }));
    const { server } = rpc;
    const { signal } = new AbortController();
    for (let i = 0; i < 50; i += 1) await rpc.request("x", {}, { signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(server.sent).toHaveLength(50);
  });
});
