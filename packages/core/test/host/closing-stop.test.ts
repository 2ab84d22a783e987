import { expect, test } from "vitest";
import { ClosingStop } from "../../src/host/closing-stop.ts";

test("it is aborted once, with its first reason, as its signal is", () => {
  const stop = new ClosingStop();
  const called: string[] = [];
  stop.onAbort(() => void called.push("called"));
  expect([stop.aborted, stop.reason, stop.signal.aborted]).toEqual([false, undefined, false]);
  expect(() => stop.throwIfAborted()).not.toThrow();
  stop.abort("enough");
  stop.abort("again");
  expect([stop.aborted, stop.reason, stop.signal.aborted, stop.signal.reason]).toEqual([
    true,
    "enough",
    true,
    "enough",
  ]);
  expect(() => stop.throwIfAborted()).toThrow("enough");
  expect(called).toEqual(["called"]);
});

test("callbacks are called in their order, and one that another removes meanwhile is not called", () => {
  const stop = new ClosingStop();
  const called: string[] = [];
  const removers = new Map<string, () => void>();
  for (const name of ["1", "2", "3", "4"])
    removers.set(
      name,
      stop.onAbort(() => {
        called.push(name);
        if (name === "1") removers.get("3")?.();
        if (name === "2") stop.onAbort(() => void called.push("late"));
      }),
    );
  removers.get("4")?.();
  removers.get("4")?.();
  stop.abort("enough");
  expect(called).toEqual(["1", "2", "late"]);
});
