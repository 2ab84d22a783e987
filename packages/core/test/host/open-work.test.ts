import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createOpenWork } from "../../src/host/open-work.ts";

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
