import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createDeadline, type Deadline } from "../../src/connect/connect-timeout.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";

interface Timed {
  readonly clock: ManualClock;
  readonly caller: AbortController;
  readonly deadline: Deadline;
}

function timed(milliseconds = 1000): Timed {
  const clock = manualClock();
  const caller = new AbortController();
  const deadline = createDeadline(caller.signal, milliseconds, clock);
  return { clock, caller, deadline };
}

test("nothing ends before it is started", async () => {
  const { clock, deadline } = timed();
  await clock.pass(5000);
  expect([deadline.signal.aborted, deadline.isOver()]).toEqual([false, false]);
});

test("it ends when its time has passed since the start, and not a moment earlier", async () => {
  const { clock, deadline } = timed();
  await clock.pass(300);
  deadline.start();
  await clock.pass(999);
  expect([deadline.signal.aborted, deadline.isOver()]).toEqual([false, false]);
  await clock.pass(1);
  expect([deadline.signal.aborted, deadline.isOver()]).toEqual([true, true]);
});

test("stopped while it runs, it leaves no timer", () => {
  const { clock, deadline } = timed();
  deadline.start();
  expect(clock.pending()).toBe(1);
  deadline.stop();
  expect(clock.pending()).toBe(0);
});

test("ended by the caller it is ended, but not late, whatever passes afterwards", async () => {
  const { clock, caller, deadline } = timed();
  deadline.start();
  caller.abort();
  expect([deadline.signal.aborted, deadline.isOver()]).toEqual([true, false]);
  await clock.pass(1000);
  expect(deadline.isOver()).toBe(false);
});

test("an attempt that has ended leaves no listener at the caller's signal", () => {
  const { caller, deadline } = timed();
  deadline.start();
  expect(getEventListeners(caller.signal, "abort")).toHaveLength(1);
  deadline.stop();
  expect(getEventListeners(caller.signal, "abort")).toEqual([]);
});

test("many attempts may share the signal of one caller, without a warning by Node", async () => {
  const warnings: Error[] = [];
  const collect = (warning: Error): void => void warnings.push(warning);
  process.on("warning", collect);
  const { signal } = new AbortController();
  for (let count = 0; count < 20; count += 1) createDeadline(signal, 1000, manualClock());
  await turn();
  process.off("warning", collect);
  expect(warnings).toEqual([]);
});

test("a caller that aborted before the attempt passes its reason on", () => {
  const reason = new Error("no longer needed");
  const { signal } = createDeadline(AbortSignal.abort(reason), 1000, manualClock());
  expect([signal.aborted, signal.reason]).toEqual([true, reason]);
});
