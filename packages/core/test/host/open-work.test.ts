import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createOpenWork, once } from "../../src/host/open-work.ts";

function untilAborted(signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve(signal.reason);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason), { once: true }));
}

test("closing aborts the controller of a request that has its own, and waits for the request", async () => {
  const work = createOpenWork();
  const stop = new AbortController();
  work.enter(stop);
  const order: string[] = [];
  const closed = work.close().then(() => order.push("closed"));
  expect(await untilAborted(stop.signal)).toMatchObject({ code: "cancelled" });
  order.push("left");
  work.leave(stop);
  await closed;
  expect(order).toEqual(["left", "closed"]);
});

test("closing aborts no controller of a request that has ended", async () => {
  const work = createOpenWork();
  const stop = new AbortController();
  work.enter(stop);
  work.leave(stop);
  await work.close();
  expect(stop.signal.aborted).toBe(false);
});

test("closing calls the callbacks of requests that wait, and only of those", async () => {
  const work = createOpenWork();
  const called: string[] = [];
  const listen = (name: string): (() => void) => work.closingStop.onAbort(() => void called.push(name));
  const [first, , third] = [listen("1"), listen("2"), listen("3"), listen("4")];
  first();
  third();
  first();
  listen("5");
  await work.close();
  expect(called).toEqual(["2", "4", "5"]);
  expect(work.closingStop.reason).toBe(work.closing.reason);
  expect(() => work.enter(undefined)).toThrow("this host has been closed");
});

test("work without the controller has a signal of its own, and leaves no listener", async () => {
  const work = createOpenWork();
  const { signal } = new AbortController();
  let given: AbortSignal | undefined;
  await work.run(async (own) => {
    given = own;
  }, signal);
  expect(given).not.toBe(signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("work without a signal of its caller gets the host's own signal, and its result goes to the caller", async () => {
  const work = createOpenWork();
  const seen: AbortSignal[] = [];
  expect(await work.run(async (signal) => seen.push(signal))).toBe(1);
  expect(seen).toEqual([work.closing]);
  await expect(work.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
});

test("work follows its caller's signal until it ends", async () => {
  const work = createOpenWork();
  const caller = new AbortController();
  const reason = await work.run((signal) => {
    expect([signal === caller.signal, signal.aborted]).toEqual([false, false]);
    const ended = untilAborted(signal);
    caller.abort("enough");
    return ended;
  }, caller.signal);
  expect(reason).toBe("enough");
  expect(await work.run(untilAborted, caller.signal)).toBe("enough");
  const other = new AbortController();
  await work.run(async () => {
    expect(getEventListeners(other.signal, "abort")).toHaveLength(1);
  }, other.signal);
  expect(getEventListeners(other.signal, "abort")).toEqual([]);
  await work.close();
});

test("closing aborts all work, waits for it, and lets no other work begin", async () => {
  const work = createOpenWork();
  const caller = new AbortController();
  const order: string[] = [];
  const running = [undefined, caller.signal].map((signal) =>
    work.run(async (until) => {
      const reason = await untilAborted(until);
      order.push("work");
      return reason;
    }, signal),
  );
  await Promise.all([
    work.close().then(() => order.push("closed")),
    work.close().then(() => order.push("closed again")),
  ]);
  expect(order).toEqual(["work", "work", "closed", "closed again"]);
  const cancelled = { code: "cancelled", message: "the host was closed" };
  expect(await Promise.all(running)).toEqual([expect.objectContaining(cancelled), expect.objectContaining(cancelled)]);
  expect(caller.signal.aborted).toBe(false);
  const closed = { code: "usage", message: "this host has been closed" };
  await expect(work.run(async () => 1)).rejects.toMatchObject(closed);
  expect(() => work.enter(undefined)).toThrow(expect.objectContaining(closed));
  expect(() => work.throwIfClosed()).toThrow(expect.objectContaining(closed));
  await expect(work.run(async () => 1, caller.signal)).rejects.toMatchObject(closed);
  expect(getEventListeners(caller.signal, "abort")).toEqual([]);
  await work.close();
});

test("work that fails before its caller awaits it is no unhandled rejection", async () => {
  const work = createOpenWork();
  const failed = work.run(() => Promise.reject(new Error("unread")));
  await new Promise(setImmediate);
  await expect(failed).rejects.toThrow("unread");
});

test("a value that is made once is the same for every caller", async () => {
  let count = 0;
  const make = once(async () => {
    count += 1;
    return { count };
  });
  expect(await make()).toBe(await make());
  expect(count).toBe(1);
});
