import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort, RequestAbort } from "../../src/rpc/abort.ts";

test("requests that share a signal share one listener, which goes with the last of them", () => {
  const { signal } = new AbortController();
  const stops = Array.from({ length: 20 }, () => onAbort(signal, () => undefined));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for (const stop of stops) stop();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("an abort reaches those that still listen, once each", () => {
  const controller = new AbortController();
  const called: string[] = [];
  const stops = ["a", "b", "c"].map((name) => onAbort(controller.signal, () => called.push(name)));
  stops[1]?.();
  controller.abort("over");
  for (const stop of stops) stop();
  onAbort(controller.signal, () => called.push("late"));
  expect(called).toEqual(["a", "c", "late"]);
});

test("the controller of a request calls back without a listener, once, and only those that still listen", () => {
  const controller = new RequestAbort();
  const { signal } = controller;
  const called: unknown[] = [];
  const stops = ["a", "b", "c"].map((name) => onAbort(controller, () => called.push([name, signal.reason])));
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  stops[1]?.();
  controller.abort("over");
  controller.abort("again");
  onAbort(controller, () => called.push("late"));
  expect(called).toEqual([["a", "over"], ["c", "over"], "late"]);
});

test("a request aborted by its controller also tells those that listen to its signal", () => {
  const controller = new RequestAbort();
  let calls = 0;
  controller.signal.addEventListener("abort", () => {
    calls += 1;
  });
  controller.abort("over");
  expect([calls, controller.signal.aborted]).toEqual([1, true]);
});

test("the signal of a request that was aborted before is aborted with the same reason", () => {
  const controller = new RequestAbort();
  controller.throwIfAborted();
  controller.abort("over");
  expect([controller.aborted, controller.signal.aborted, controller.signal.reason]).toEqual([true, true, "over"]);
  expect(() => controller.throwIfAborted()).toThrow("over");
});
