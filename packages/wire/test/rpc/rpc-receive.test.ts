import { describe, expect, test } from "vitest";
import { WireError } from "../../src/errors.ts";
import type { ChannelEvents, RpcMessage } from "../../src/rpc/channel.ts";
import type { Unsolicited } from "../../src/rpc/read-budget.ts";
import { openRpc, type Rpc, type RpcOptions } from "../../src/rpc/rpc.ts";
import type { JsonObject } from "../../src/session.ts";
import { defaultLimits, defaultTimes } from "../../src/target.ts";
import { turn } from "../support/collected.ts";
import { failure } from "../support/memory-server.ts";
import { stoppedTime } from "../support/simulated-time.ts";

interface Opened extends AsyncDisposable {
  readonly rpc: Rpc;
  readonly events: ChannelEvents;
  readonly sent: RpcMessage[];
  readonly diagnostics: string[];
  /** Delivers a message of the server's. */
  readonly say: (message: RpcMessage, size?: number) => Unsolicited | undefined;
}

interface Given extends Partial<RpcOptions> {
  readonly onSend?: (message: RpcMessage) => Promise<void> | undefined;
  readonly onClose?: () => Promise<void>;
}

const limits = { ...defaultLimits, messageBytes: 1000, unsolicitedMessageBytes: 100 };

async function open({ onSend, onClose, ...options }: Given = {}): Promise<Opened> {
  const sent: RpcMessage[] = [];
  const diagnostics: string[] = [];
  let events: ChannelEvents | undefined;
  const rpc = await openRpc(
    async (given) => {
      events = given;
      return {
        cancelBy: "message",
        async send(message) {
          sent.push(message);
          await onSend?.(message);
        },
        setProtocolVersion: () => undefined,
        async close() {
          await onClose?.();
        },
      };
    },
    { limits, times: defaultTimes, onDiagnostic: (text) => void diagnostics.push(text), ...options },
  );
  if (events === undefined) throw new Error("the channel was not opened");
  const given = events;
  return {
    rpc,
    events: given,
    sent,
    diagnostics,
    say: (message, size = 10) => given.message({ jsonrpc: "2.0", ...message }, size),
    [Symbol.asyncDispose]: rpc.close,
  };
}

describe("what a message counts as", () => {
  test("depends on whether an open request expects it", async () => {
    await using opened = await open();
    const { rpc, say, diagnostics } = opened;
    const result = rpc.request("x");
    const task = rpc.request("task", {}, { follow: () => new Promise<JsonObject>(() => undefined) });
    task.catch(() => undefined);
    expect([
      say({ method: "n" }),
      say({ id: 9, method: "ping" }),
      say({ id: 7, result: {} }),
      say({ id: 2, result: {} }),
      say({ id: 2, result: {} }),
      say({ id: 1, result: { a: 1 } }),
      say({ id: 1, result: { a: 1 } }),
    ]).toEqual([
      "notifications",
      "requests",
      "responses to unknown requests",
      undefined,
      "responses to unknown requests",
      undefined,
      "responses to unknown requests",
    ]);
    expect(await result).toEqual({ a: 1 });
    expect(diagnostics).toEqual([
      "a response to an unknown request was ignored",
      "a second response to a request was ignored",
    ]);
  });

  test("is no flood for the late response to a cancelled request, once", async () => {
    await using opened = await open();
    const over = new AbortController();
    const cancelled = failure(opened.rpc.request("x", {}, { signal: over.signal }));
    over.abort();
    expect(await cancelled).toMatchObject({ code: "cancelled" });
    expect([opened.say({ id: 1, result: {} }), opened.say({ id: 1, result: {} })]).toEqual([
      undefined,
      "responses to unknown requests",
    ]);
  });

  test("is undefined after the end, and the message is only shown to onMessage", async () => {
    const seen: unknown[] = [];
    await using opened = await open({ onMessage: (direction, { method }) => void seen.push([direction, method]) });
    opened.events.closed(undefined);
    expect([opened.say({ method: "n" }), opened.say({ id: 1, method: "ping" })]).toEqual([undefined, undefined]);
    await turn();
    expect(opened.sent).toEqual([]);
    expect(seen).toEqual([
      ["received", "n"],
      ["received", "ping"],
    ]);
  });

  test("a late response to a request that was given up is no diagnostic, but only once", async () => {
    const stop = new AbortController();
    await using opened = await open();
    const failed = failure(opened.rpc.request("x", {}, { signal: stop.signal }));
    stop.abort();
    await failed;
    const progress = { method: "notifications/progress", params: { progressToken: 1, progress: 1 } };
    opened.say(progress);
    opened.say({ id: 1, result: {} });
    expect(opened.diagnostics).toEqual([]);
    opened.say(progress);
    opened.say({ id: 1, result: {} });
    expect(opened.diagnostics).toEqual([
      "progress of an unknown request was ignored",
      "a response to an unknown request was ignored",
    ]);
  });

  test("the client remembers 1024 requests that were given up", async () => {
    const stop = new AbortController();
    await using opened = await open();
    const failed = Array.from({ length: 1026 }, () =>
      failure(opened.rpc.request("x", {}, { signal: stop.signal, quiet: true })),
    );
    stop.abort();
    await Promise.all(failed);
    opened.say({ id: 3, result: {} });
    opened.say({ id: 1026, result: {} });
    expect(opened.diagnostics).toEqual([]);
    opened.say({ id: 2, result: {} });
    expect(opened.diagnostics).toEqual(["a response to an unknown request was ignored"]);
  });
});

describe("the size of a response", () => {
  test("is told to the caller, and may be as large as the limit of its request", async () => {
    await using opened = await open();
    const sizes: number[] = [];
    const options = { maxBytes: 50, onSize: (size: number) => void sizes.push(size) };
    const [fits, tooLarge] = [opened.rpc.request("a", {}, options), failure(opened.rpc.request("b", {}, options))];
    opened.say({ id: 1, result: { ok: true } }, 50);
    expect(opened.say({ id: 2, result: {} }, 51)).toBeUndefined();
    expect(await fits).toEqual({ ok: true });
    expect(await tooLarge).toMatchObject({
      code: "too_large",
      message: "the response to b is larger than 50 bytes",
      evidence: { step: "b" },
    });
    expect(sizes).toEqual([50, 51]);
    expect(opened.say({ id: 2, result: {} })).toBe("responses to unknown requests");
  });

  test("that the next message may have depends on the open requests", async () => {
    await using opened = await open();
    const { rpc, events, say } = opened;
    expect(events.largest()).toBe(100);
    const waits = [10, 300, 5000, 200].map((maxBytes) => rpc.request("x", {}, { maxBytes }));
    expect(events.largest()).toBe(1000);
    say({ id: 3, result: {} });
    expect(events.largest()).toBe(300);
    for (const id of [1, 2]) say({ id, result: {} });
    expect(events.largest()).toBe(200);
    say({ id: 4, result: {} });
    expect(events.largest()).toBe(100);
    await Promise.all(waits);
    await using small = await open({ limits: { ...limits, messageBytes: 20 } });
    expect(small.events.largest()).toBe(20);
  });
});

describe("a message that was dropped", () => {
  test.each([
    ['{"jsonrpc":"2.0","id":2,"result":{', [undefined, "too_large"]],
    ['{"id" : "2","result":{', [undefined, "too_large"]],
    ['{"result":{', ["too_large", "too_large"]],
    ['{"id":7,"result":{', ["too_large", "too_large"]],
    ['{"method":"n","params":{', [undefined, undefined]],
    ['{"id":7,"method":"n","params":{', [undefined, undefined]],
  ])("fails the requests that it may answer: %s", async (start, expected) => {
    await using opened = await open();
    const codes: (string | undefined)[] = [undefined, undefined];
    const waits = [0, 1].map((at) =>
      opened.rpc.request("x", {}, { maxBytes: 2000 }).catch((error: WireError) => {
        codes[at] = error.code;
        expect(error.message).toBe("the response to x is larger than 1000 bytes");
      }),
    );
    opened.events.dropped(start);
    await turn();
    expect(codes).toEqual(expected);
    const isTold = expected.every((code) => code === undefined);
    expect(opened.diagnostics).toEqual(
      isTold ? ["a message was dropped: it answers no request and is larger than 1000 bytes"] : [],
    );
    for (const id of [1, 2]) opened.say({ id, result: {} });
    await Promise.all(waits);
  });

  test("has the cause why it could not be read", async () => {
    await using opened = await open();
    const cause = new WireError("too_large", "too much memory", { overMemory: true });
    opened.events.dropped('{"method":"n"', cause);
    expect(opened.diagnostics).toEqual(["a message was dropped: too much memory"]);
    const failed = failure(opened.rpc.request("x"));
    opened.events.dropped('{"id":1,', cause);
    expect(await failed).toMatchObject({
      code: "too_large",
      message: "too much memory",
      evidence: { overMemory: true, step: "x" },
    });
  });
});

describe("a request that stays open after its first response", () => {
  /** A request whose end a test decides. */
  function followed(opened: Opened) {
    let resolve: (result: JsonObject) => void = () => undefined;
    let reject: (error: Error) => void = () => undefined;
    const answers: JsonObject[] = [];
    const result = opened.rpc.request(
      "x",
      {},
      {
        follow(answer) {
          answers.push(answer);
          return new Promise((yes, no) => {
            resolve = yes;
            reject = no;
          });
        },
      },
    );
    return { result, answers, resolve: (given: JsonObject) => resolve(given), reject: (error: Error) => reject(error) };
  }

  test("gets the result that follows, and its id is free then", async () => {
    await using opened = await open();
    const { result, answers, resolve } = followed(opened);
    opened.say({ id: 1, result: { task: 1 } });
    resolve({ done: true });
    expect(await result).toEqual({ done: true });
    expect(answers).toEqual([{ task: 1 }]);
    expect(opened.events.largest()).toBe(100);
  });

  test("fails with the error that follows, which is never unsent", async () => {
    await using opened = await open();
    const { result, reject } = followed(opened);
    opened.say({ id: 1, result: { task: 1 } });
    reject(new WireError("task_lost", "gone", { unsent: true }));
    const error = await failure(result);
    expect([error.code, error.message, error.evidence]).toEqual(["task_lost", "gone", { step: "x" }]);
    expect(opened.events.largest()).toBe(100);
  });

  test("is not changed by what follows after the connection has ended", async () => {
    for (const isFailing of [false, true]) {
      await using opened = await open();
      const { result, resolve, reject } = followed(opened);
      opened.say({ id: 1, result: { task: 1 } });
      opened.events.closed(new WireError("exited", "gone"));
      if (isFailing) reject(new Error("late"));
      else resolve({ late: true });
      expect(await failure(result)).toMatchObject({ code: "exited", evidence: { step: "x" } });
    }
  });

  test.each<RpcMessage>([
    { error: { code: 1, message: "no" } },
    { result: { a: 1 }, error: { code: 1, message: "no" } },
    { result: [] },
  ])("is only a request whose response is a result: %j", async (message) => {
    await using opened = await open();
    const { result, answers } = followed(opened);
    opened.say({ id: 1, ...message });
    await failure(result);
    expect(answers).toEqual([]);
  });
});

describe("a cancellation by the server", () => {
  const cancelled = (requestId: unknown): RpcMessage => ({ method: "notifications/cancelled", params: { requestId } });

  test("ends a subscription, and no other request", async () => {
    await using opened = await open();
    const [plain, subscription] = [
      opened.rpc.request("x"),
      failure(opened.rpc.request("listen", {}, { openEnded: true })),
    ];
    for (const id of [1, 7, undefined]) opened.say(cancelled(id));
    opened.say(cancelled("2"));
    const error = await subscription;
    expect([error.code, error.message, error.evidence]).toEqual([
      "stream_lost",
      "the server ended listen",
      { step: "listen" },
    ]);
    opened.say({ id: 1, result: { a: 1 } });
    expect(await plain).toEqual({ a: 1 });
    expect(opened.say({ id: 2, result: {} })).toBe("responses to unknown requests");
    expect(opened.sent.map(({ method }) => method)).toEqual(["x", "listen"]);
  });

  test("of its own request leaves the client's request with the same id open", async () => {
    await using opened = await open({ onRequest: () => new Promise(() => undefined) });
    const subscription = opened.rpc.request("listen", {}, { openEnded: true });
    opened.say({ id: 1, method: "roots/list" });
    opened.say(cancelled(1));
    opened.say({ id: 1, result: { a: 1 } });
    expect(await subscription).toEqual({ a: 1 });
  });
});

describe("a message that cannot be sent", () => {
  test("and that cancels a request is a diagnostic", async () => {
    const stop = new AbortController();
    await using opened = await open({
      onSend: async ({ method }) => {
        if (method === "notifications/cancelled") throw new Error("pipe");
      },
    });
    const failed = failure(opened.rpc.request("x", {}, { signal: stop.signal }));
    stop.abort("why");
    expect(await failed).toMatchObject({ code: "cancelled", message: "x was cancelled", cause: "why" });
    await turn();
    expect(opened.sent[1]).toEqual({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1, reason: "x was cancelled" },
    });
    expect(opened.diagnostics).toEqual(["a cancellation could not be sent: pipe"]);
  });
});

describe("the end of a connection", () => {
  test("is told once, with the server's cause or without one after close", async () => {
    const cause = new WireError("exited", "gone");
    const lost = await open();
    lost.events.closed(cause);
    lost.events.closed(new WireError("closed", "again"));
    expect(await lost.rpc.closed).toBe(cause);
    expect(await failure(lost.rpc.request("x"))).toMatchObject({
      code: "closed",
      message: "the connection is lost: gone",
      evidence: { step: "x", unsent: true },
      cause,
    });
    expect(await failure(lost.rpc.notify("n"))).toMatchObject({ code: "closed", evidence: { unsent: true } });
    const left = await open();
    await Promise.all([left.rpc.close(), left.rpc.close()]);
    expect(await left.rpc.closed).toBeUndefined();
    expect(await failure(left.rpc.request("x"))).toMatchObject({ code: "closed", message: "the connection is closed" });
  });

  test("closes the channel, fails the open requests, and a failure to close is a diagnostic", async () => {
    const order: string[] = [];
    const opened = await open({
      onClose: async () => {
        order.push("channel");
        throw new Error("stuck");
      },
    });
    const failed = opened.rpc.request("x").catch((error: WireError) => void order.push(error.code));
    await opened.rpc.close();
    await failed;
    expect(order).toEqual(["channel", "closed"]);
    expect(opened.diagnostics).toEqual(["closing failed: stuck"]);
    expect(await opened.rpc.closed).toBeUndefined();
  });

  test("leaves no timer", async () => {
    const time = stoppedTime();
    const opened = await open({ time });
    const failed = failure(opened.rpc.request("x", {}, { timeout: 500 }));
    expect(time.left()).toEqual([500]);
    opened.events.closed(undefined);
    expect(time.left()).toEqual([]);
    expect(await failed).toMatchObject({ code: "closed", message: "the connection was closed during x" });
  });
});
