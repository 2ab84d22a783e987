import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { RpcMessage } from "../../src/rpc/channel.ts";
import { Exchange } from "../../src/rpc/exchange.ts";
import { createInbound, type InboundHandler, type InboundOptions } from "../../src/rpc/inbound.ts";
import type { JsonObject, RequestHandler } from "../../src/session.ts";
import { turn } from "../support/collected.ts";

/** The requests of a server, with at most two open ones of 100 bytes together. */
function inbound(options: Partial<InboundOptions> = {}) {
  const replies: RpcMessage[] = [];
  const diagnostics: unknown[] = [];
  const calls: unknown[] = [];
  const requests = createInbound({
    limits: { inboundRequests: 2, inboundBytes: 100 },
    async reply(message) {
      replies.push(message);
    },
    diagnose: (kind, text) => void diagnostics.push([kind, text]),
    waiting: (exchange) => void calls.push(["waiting", exchange]),
    answered: (exchange) => void calls.push(["answered", exchange]),
    ...options,
  });
  const take = (id: unknown, method: string, size = 10, exchange?: Exchange, isAmbiguous = false): void =>
    requests.take(id, { method, params: { m: method }, size, related: { exchange, isAmbiguous } });
  return { ...requests, take, replies, diagnostics, calls };
}

function exchangeWith(answer?: RequestHandler): Exchange {
  return new Exchange(
    "ours",
    answer ? { answer } : {},
    0,
    10,
    () => undefined,
    () => undefined,
  );
}

const error = (id: unknown, code: number, message: string): object => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

describe("a request of the other side", () => {
  test("is refused above the limit of bytes, or if two requests are open", async () => {
    const { take, serveWith, replies } = inbound();
    serveWith(() => new Promise(() => undefined));
    take(1, "a", 60);
    take(2, "b", 41);
    take(3, "c", 40);
    take(4, "d", 0);
    await turn();
    expect(replies).toEqual([
      error(2, -32000, "the open requests together would be larger than 100 bytes"),
      error(4, -32000, "already answering 2 requests"),
    ]);
  });

  test("gives its room back when it is answered or cancelled", async () => {
    const ends: (() => void)[] = [];
    const { take, serveWith, cancel, replies } = inbound();
    serveWith(() => new Promise((resolve) => void ends.push(() => resolve({}))));
    take(1, "a", 100);
    ends[0]?.();
    await turn();
    take(2, "b", 100);
    expect(cancel(2)).toBe(true);
    expect([cancel(2), cancel(undefined), cancel({}), cancel("2")]).toEqual([false, false, false, false]);
    take(3, "c", 100);
    await turn();
    expect(replies).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
    expect(ends).toHaveLength(3);
  });

  test("reaches a client's handler with a signal and an origin", async () => {
    const seen: unknown[] = [];
    const { take, handleWith, calls } = inbound();
    handleWith(async (method, params, signal, origin) => {
      seen.push([method, params, signal.aborted, origin]);
      return { ok: 1 };
    });
    take("q", "roots/list", 1, undefined, true);
    await turn();
    expect(seen).toEqual([["roots/list", { m: "roots/list" }, false, { id: "q", isAmbiguous: true }]]);
    expect(calls).toEqual([
      ["waiting", undefined],
      ["answered", undefined],
    ]);
  });

  test("that arrives during one of our requests is answered by that request's handler", async () => {
    const seen: unknown[] = [];
    const { take, replies, calls } = inbound();
    const exchange = exchangeWith(async (method, params, _signal, origin) => {
      seen.push([method, params, origin]);
      return { own: true };
    });
    take(1, "sampling", 1, exchange);
    await turn();
    expect(seen).toEqual([["sampling", { m: "sampling" }, { isAmbiguous: false }]]);
    expect(replies).toEqual([{ jsonrpc: "2.0", id: 1, result: { own: true } }]);
    expect(calls).toEqual([
      ["waiting", exchange],
      ["answered", exchange],
    ]);
  });

  test("that arrives during a request without a handler goes to the session's handler", async () => {
    const { take, serveWith, replies, calls } = inbound();
    const exchange = exchangeWith();
    take(1, "a", 1, exchange);
    serveWith(async () => ({ session: true }));
    take(2, "b", 1, exchange);
    await turn();
    expect(replies).toEqual([
      error(1, -32601, "a is not supported"),
      { jsonrpc: "2.0", id: 2, result: { session: true } },
    ]);
    expect(calls).toEqual([
      ["waiting", undefined],
      ["answered", undefined],
    ]);
  });

  test("is aborted when our request has ended, and not after it was answered", async () => {
    const signals: AbortSignal[] = [];
    const ends: ((result: JsonObject) => void)[] = [];
    const answer: RequestHandler = (_method, _params, signal) =>
      new Promise((resolve) => {
        signals.push(signal);
        ends.push(resolve);
      });
    const { take, replies } = inbound();
    const exchange = exchangeWith(answer);
    take(1, "a", 1, exchange);
    take(2, "b", 1, exchange);
    ends[0]?.({});
    await turn();
    exchange.succeed({});
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    expect(signals[1]?.reason).toMatchObject({
      code: "cancelled",
      message: "the client's request has ended, so the server's question needs no answer",
    });
    expect(replies).toHaveLength(1);
    ends[1]?.({});
    await turn();
  });

  test("that is cancelled is aborted with a reason and gets no response", async () => {
    let stopped: unknown;
    const { take, serveWith, cancel, cancelAll, replies, calls } = inbound();
    const reasons: unknown[] = [];
    serveWith(
      (_method, _params, stop) =>
        new Promise((resolve) => {
          stop.onAbort(() => {
            reasons.push(stop.reason);
            resolve({});
          });
          stop.atEnd(() => {
            stopped = stop.aborted;
          });
        }),
    );
    take(1, "a");
    cancel(1);
    take(2, "b");
    take("c", "c");
    cancelAll();
    await turn();
    const reason = expect.objectContaining({
      code: "cancelled",
      message: "the server no longer waits for the response",
    });
    expect(reasons).toEqual([reason, reason, reason]);
    expect([replies, stopped]).toEqual([[], true]);
    expect(calls.flat().filter((what) => what === "answered")).toHaveLength(3);
  });

  test("that uses an id again after it was cancelled gets only the second response", async () => {
    const ends: ((result: JsonObject) => void)[] = [];
    const { take, serveWith, cancel, replies } = inbound();
    serveWith(() => new Promise((resolve) => void ends.push(resolve)));
    take(1, "a");
    cancel(1);
    take(1, "b");
    ends[0]?.({ first: true });
    await turn();
    expect(replies).toEqual([]);
    ends[1]?.({ second: true });
    await turn();
    expect(replies).toEqual([{ jsonrpc: "2.0", id: 1, result: { second: true } }]);
  });

  test("whose handler fails gets the handler's JSON-RPC error, or an internal error", async () => {
    const { take, serveWith, replies } = inbound();
    serveWith(async (method) => {
      if (method === "rpc") throw new WireError("rpc", "rejected", { rpc: { code: -1, data: { by: "user" } } });
      if (method === "wire") throw new WireError("timeout", "too late");
      throw new Error("broken");
    });
    for (const [id, method] of ["rpc", "wire", "other"].entries()) {
      take(id, method);
      await turn();
    }
    expect(replies).toEqual([
      { jsonrpc: "2.0", id: 0, error: { code: -1, message: "rejected", data: { by: "user" } } },
      error(1, -32603, "too late"),
      error(2, -32603, "broken"),
    ]);
  });

  test("whose handler returns no object gets an empty result", async () => {
    const { take, serveWith, replies } = inbound();
    // A handler in JavaScript may return anything.
    const odd: InboundHandler = () => Promise.resolve(JSON.parse("7") as JsonObject);
    serveWith(odd);
    take(1, "a");
    await turn();
    expect(replies).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
  });

  test("that is a ping reaches the handler only if answersPing is false", async () => {
    for (const answersPing of [undefined, true, false]) {
      const { take, serveWith, replies } = inbound({ answersPing });
      serveWith(async () => ({ mine: true }));
      take(1, "ping");
      await turn();
      expect(replies).toEqual([{ jsonrpc: "2.0", id: 1, result: answersPing === false ? { mine: true } : {} }]);
    }
  });

  test("that is ignored or repeated is a diagnostic of its kind", async () => {
    const { take, serveWith, ignoreAll, diagnostics, replies } = inbound();
    serveWith(() => new Promise(() => undefined));
    take(1, "a");
    take(1, "x".repeat(101));
    take(null, "b");
    ignoreAll();
    take(2, "c");
    await turn();
    expect(diagnostics).toEqual([
      ["repeated", `the server sent ${"x".repeat(99)}… twice with the same id`],
      ["unanswerable", "the server sent the request b, which was ignored"],
      ["unanswerable", "the server sent the request c, which was ignored"],
    ]);
    expect(replies).toEqual([]);
  });
});

describe("responses that cannot be sent", () => {
  async function lost(thrown: unknown, count = 1) {
    const sent = Promise.reject(thrown);
    sent.catch(() => undefined);
    const replies: RpcMessage[] = [];
    const { take, serveWith, diagnostics } = inbound({
      reply(message) {
        replies.push(message);
        return message["error"] === undefined ? sent : Promise.resolve();
      },
    });
    serveWith(async () => ({ big: true }));
    for (let id = 1; id <= count; id += 1) take(id, "a");
    await turn();
    return { replies, diagnostics };
  }

  test.each([
    [new WireError("too_large", "too large", { unsent: true })],
    [new WireError("bad_message", "not JSON", { unsent: true })],
  ])("because of their text are replaced by errors, one for each request: %s", async (thrown) => {
    const { replies, diagnostics } = await lost(thrown, 2);
    expect(replies.slice(2)).toEqual([error(1, -32603, thrown.message), error(2, -32603, thrown.message)]);
    expect(diagnostics).toEqual([]);
  });

  test.each([
    [new WireError("too_large", "lost")],
    [new WireError("closed", "lost", { unsent: true })],
    [new Error("lost")],
  ])("because of the connection are only a diagnostic: %s", async (thrown) => {
    const { replies, diagnostics } = await lost(thrown);
    expect(replies).toHaveLength(1);
    expect(diagnostics).toEqual([["a response was lost", "a response was lost: lost"]]);
  });
});

test("results that find no room become errors once the other side reads again", async () => {
  const blocked = Promise.reject(new WireError("send_blocked", "too slow", { unsent: true }));
  const sent: RpcMessage[] = [];
  let drain = (): void => {};
  let isFull = true;
  const drained = new Promise<void>((resolve) => {
    drain = resolve;
  });
  const { take, serveWith } = inbound({
    reply(message) {
      if (isFull) return blocked;
      sent.push(message);
      return Promise.resolve();
    },
    drained: () => (isFull ? drained : undefined),
  });
  serveWith(async () => ({}));
  take(1, "a");
  await turn();
  // The same refusal, after the first response has seen it.
  take(2, "b");
  await turn();
  expect(sent).toEqual([]);
  isFull = false;
  drain();
  await turn();
  const words = "the result was dropped: too slow; the request may have run";
  expect(sent).toEqual([error(1, -32603, words), error(2, -32603, words)]);
});
