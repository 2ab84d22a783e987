import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort } from "../../src/rpc/abort.ts";

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
  controller.abort();
  for (const stop of stops) stop();
  onAbort(controller.signal, () => called.push("late"));
  expect(called).toEqual(["a", "c", "late"]);
});
