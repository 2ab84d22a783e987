import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { OpenWork } from "../../src/request/open-work.ts";

function untilAborted(signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve(signal.reason);
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason), { once: true }));
}

test("closing aborts the signal of running work, and waits for it", async () => {
  const work = new OpenWork();
  const order: string[] = [];
  const running = work.run(async (signal) => {
    expect(await untilAborted(signal)).toMatchObject({ code: "cancelled" });
    order.push("ended");
  });
  const closed = work.close().then(() => order.push("closed"));
  await Promise.all([running, closed]);
  expect(order).toEqual(["ended", "closed"]);
  await expect(work.run(async () => {})).rejects.toThrow("this host has been closed");
});

test("closing aborts no signal that ended work had of its own", async () => {
  const work = new OpenWork();
  let seen: AbortSignal | undefined;
  await work.run(async (signal) => {
    seen = signal;
  }, new AbortController().signal);
  await work.close();
  expect(seen?.aborted).toBe(false);
});

test("work without the controller has a signal of its own, and leaves no listener", async () => {
  const work = new OpenWork();
  const { signal } = new AbortController();
  let given: AbortSignal | undefined;
  await work.run(async (own) => {
    given = own;
  }, signal);
  expect(given).not.toBe(signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("the result or error of work goes to its caller", async () => {
  const work = new OpenWork();
  expect(await work.run(async () => 1)).toBe(1);
  await expect(work.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
});

test("work follows its caller's signal until it ends", async () => {
  const work = new OpenWork();
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
  const work = new OpenWork();
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
  await expect(work.run(async () => 1, caller.signal)).rejects.toMatchObject(closed);
  expect(getEventListeners(caller.signal, "abort")).toEqual([]);
  await work.close();
});

test("work that fails before its caller awaits it is no unhandled rejection", async () => {
  const work = new OpenWork();
  const failed = work.run(() => Promise.reject(new Error("unread")));
  await new Promise(setImmediate);
  await expect(failed).rejects.toThrow("unread");
});
