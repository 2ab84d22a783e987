import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { RequestAbort } from "../../src/rpc/abort.ts";
import { Exchange, type ExchangeOptions, openRequest, resumeTimeouts } from "../../src/rpc/exchange.ts";
import type { JsonObject } from "../../src/session.ts";

const never = Number.POSITIVE_INFINITY;

/** A request at the moment 1000 that times out after 100 ms of silence. */
function request(options: ExchangeOptions = {}) {
  const outcomes: unknown[] = [];
  const exchange = new Exchange(
    "x",
    options,
    1000,
    100,
    (result) => void outcomes.push(["result", result]),
    (error) => void outcomes.push(["error", error.message]),
  );
  return { exchange, outcomes };
}

describe("the options of a request", () => {
  test("have defaults", () => {
    const { exchange } = request();
    const { id, method, silence, headers, about, owner, logLevel, onNotification, answer, openEnded, quiet } = exchange;
    expect({ id, method, silence, headers, about, owner, logLevel, onNotification, answer, openEnded, quiet }).toEqual({
      id: -1,
      method: "x",
      silence: 100,
      headers: {},
      about: undefined,
      owner: undefined,
      logLevel: undefined,
      onNotification: undefined,
      answer: undefined,
      openEnded: false,
      quiet: false,
    });
    const { isModern, mayBeAsked, maxBytes, canFollow, isFollowed, isEnded, aborted, isUnsent, hasToken } = exchange;
    expect({ isModern, mayBeAsked, canFollow, isFollowed, isEnded, aborted, isUnsent, hasToken }).toEqual({
      isModern: false,
      mayBeAsked: false,
      canFollow: false,
      isFollowed: false,
      isEnded: false,
      aborted: false,
      isUnsent: false,
      hasToken: false,
    });
    expect([maxBytes, exchange.givenUpAt, exchange.activeAt, exchange.askedAt]).toEqual([never, 0, 1000, undefined]);
  });

  test("are those that the caller gives", () => {
    const sizes: number[] = [];
    const options: ExchangeOptions = {
      headers: { a: "1" },
      about: 7,
      owner: "me",
      logLevel: "info",
      onNotification: () => undefined,
      answer: async () => ({}),
      openEnded: true,
      quiet: true,
      envelope: {},
      maxBytes: 9,
      onSize: (size) => void sizes.push(size),
      follow: () => undefined,
    };
    const { exchange } = request(options);
    expect(exchange.headers).toBe(options.headers);
    expect(exchange.onNotification).toBe(options.onNotification);
    expect(exchange.answer).toBe(options.answer);
    const { about, owner, logLevel, openEnded, quiet, isModern, mayBeAsked, maxBytes, canFollow } = exchange;
    expect({ about, owner, logLevel, openEnded, quiet, isModern, mayBeAsked, maxBytes, canFollow }).toEqual({
      about: 7,
      owner: "me",
      logLevel: "info",
      openEnded: true,
      quiet: true,
      isModern: true,
      mayBeAsked: true,
      maxBytes: 9,
      canFollow: true,
    });
    exchange.received(5);
    request().exchange.received(6);
    expect(sizes).toEqual([5]);
    const slow = request().exchange;
    slow.hasToken = true;
    expect(slow.mayBeAsked).toBe(true);
  });
});

describe("the time of a request", () => {
  test("ends after the silence or the total limit, whichever is earlier", () => {
    expect(request().exchange.due).toBe(1100);
    expect(request({ total: 50 }).exchange.due).toBe(1050);
    const { exchange } = request({ total: 150 });
    expect(exchange.due).toBe(1100);
    exchange.restartTimeout(1080);
    expect([exchange.due, exchange.timesOutAt]).toEqual([1150, 1180]);
  });

  test("does not pass while the server waits for an answer", () => {
    const { exchange } = request({ total: 150 });
    exchange.pause(1010);
    exchange.pause(1020);
    expect([exchange.due, exchange.askedAt]).toEqual([never, 1010]);
    exchange.resume(1040);
    expect([exchange.due, exchange.askedAt, exchange.activeAt]).toEqual([never, 1010, 1000]);
    exchange.resume(1060);
    expect([exchange.due, exchange.askedAt, exchange.activeAt]).toEqual([1150, undefined, 1060]);
    exchange.restartTimeout(1190);
    expect(exchange.due).toBe(1200);
  });

  test("goes on with a timer for its new end", () => {
    const moments: number[] = [];
    const { exchange } = request();
    exchange.pause(1010);
    resumeTimeouts(exchange, { now: () => 1030, wakeBy: (moment) => void moments.push(moment) });
    expect(moments).toEqual([1120]);
  });

  test("at which the caller stopped waiting is kept", () => {
    const { exchange } = request();
    expect(exchange.giveUp(1234)).toBe(exchange);
    expect(exchange.givenUpAt).toBe(1234);
  });
});

describe("the end of a request", () => {
  test("calls its listeners first, and then passes on the result or the error", () => {
    const [good, bad] = [request(), request()];
    const seen: unknown[] = [];
    good.exchange.onEnd(() => void seen.push(["first", good.exchange.isEnded, good.outcomes.length]));
    good.exchange.onEnd(() => void seen.push("second"));
    const stop = good.exchange.onEnd(() => void seen.push("removed"));
    stop();
    good.exchange.succeed({ a: 1 });
    bad.exchange.fail(new Error("no"));
    expect(seen).toEqual([["first", true, 0], "second"]);
    expect([good.outcomes, bad.outcomes]).toEqual([[["result", { a: 1 }]], [["error", "no"]]]);
    expect([bad.exchange.isEnded, bad.exchange.aborted]).toEqual([true, false]);
  });

  test("removes the listener for the caller's abort", () => {
    const { signal } = new AbortController();
    const stop = new RequestAbort();
    const called: string[] = [];
    const [bySignal, byStop] = [request({ signal }), request({ signal, stop })];
    bySignal.exchange.onCallerAbort(() => void called.push("signal"));
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    byStop.exchange.onCallerAbort(() => void called.push("stop"));
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    bySignal.exchange.succeed({});
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    stop.abort("over");
    expect(called).toEqual(["stop"]);
    const ended = request({ stop: new RequestAbort() });
    ended.exchange.onCallerAbort(() => void called.push("late"));
    ended.exchange.fail(new Error("no"));
    expect(called).toEqual(["stop"]);
  });

  test("by an abort cancels it in the transport", () => {
    const { exchange, outcomes } = request();
    const calls: string[] = [];
    exchange.onAbort(() => void calls.push("first"));
    const stopSecond = exchange.onAbort(() => void calls.push("removed"));
    const stopOther = exchange.onAbort(() => void calls.push("last"));
    stopSecond();
    const { signal } = exchange;
    expect([signal.aborted, exchange.stop]).toEqual([false, exchange]);
    exchange.abort(new Error("gone"));
    expect([calls, outcomes, signal.aborted, signal.reason]).toEqual([
      ["first", "last"],
      [["error", "gone"]],
      true,
      expect.objectContaining({ message: "gone" }),
    ]);
    stopOther();
    expect(exchange.aborted).toBe(true);
    expect(request().exchange.aborted).toBe(false);
  });

  test("by an abort calls no callback that was removed", () => {
    const { exchange } = request();
    const calls: string[] = [];
    exchange.onAbort(() => void calls.push("removed"))();
    exchange.abort(new Error("gone"));
    expect(calls).toEqual([]);
    // A signal that is read only afterwards is aborted, and stays the same.
    const { signal } = exchange;
    expect(signal.aborted).toBe(true);
    expect(exchange.signal).toBe(signal);
  });
});

describe("a request that stays open", () => {
  test("is marked as followed, already while its first response is read", () => {
    const seen: unknown[] = [];
    const answer = async (): Promise<JsonObject> => ({});
    const { exchange } = request({
      answer,
      follow(first, open, own) {
        seen.push([exchange.isFollowed, first, open.signal === exchange.signal, own === answer]);
        return first["task"] === undefined ? undefined : Promise.resolve({ done: true });
      },
    });
    const open = openRequest(exchange, { now: () => 0, wakeBy: () => undefined }, () => undefined);
    expect(exchange.follow({ a: 1 }, open)).toBeUndefined();
    expect(exchange.isFollowed).toBe(false);
    expect(exchange.follow({ task: 1 }, open)).toBeInstanceOf(Promise);
    expect(exchange.isFollowed).toBe(true);
    expect(seen).toEqual([
      [true, { a: 1 }, true, true],
      [true, { task: 1 }, true, true],
    ]);
  });

  test("reports progress and messages to its caller", () => {
    const told: unknown[] = [];
    const tellers: unknown[] = [];
    const { exchange } = request({ onProgress: (progress) => void told.push(progress) });
    const open = openRequest(exchange, { now: () => 0, wakeBy: () => undefined }, (about, news) => {
      tellers.push(about);
      news();
    });
    open.reportMessage("begin");
    open.progress({ progress: 3, total: 9 });
    open.reportMessage("working");
    expect(told).toEqual([
      { progress: 0, message: "begin" },
      { progress: 3, total: 9 },
      { progress: 3, total: 9, message: "working" },
    ]);
    expect(tellers).toEqual([exchange, exchange, exchange]);
    request().exchange.progress({ progress: 1 });
  });

  test("pauses, resumes and restarts its timeout by the session's clock", () => {
    let now = 1010;
    const moments: number[] = [];
    const { exchange } = request();
    const clock = { now: () => now, wakeBy: (moment: number) => void moments.push(moment) };
    const open = openRequest(exchange, clock, () => undefined);
    open.pause();
    expect(exchange.due).toBe(never);
    now = 1050;
    open.resume();
    expect([exchange.due, moments]).toEqual([1140, [1140]]);
    open.restartTimeout();
    expect(exchange.due).toBe(1150);
  });
});
