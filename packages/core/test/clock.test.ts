import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { type Clock, sleep, systemClock } from "../src/clock.ts";
import { manualClock } from "./support/manual-clock.ts";

test("what is called off does not happen", async () => {
  const seen: string[] = [];
  const callOff = systemClock.after(0, () => seen.push("called off"));
  callOff();
  await new Promise<void>((resolve) => systemClock.after(1, resolve));
  expect(seen).toEqual([]);
});

test("a delay longer than Node can wait does not end at once", async () => {
  const seen: string[] = [];
  const callOff = systemClock.after(2 ** 40, () => seen.push("too early"));
  await new Promise<void>((resolve) => systemClock.after(10, resolve));
  callOff();
  expect(seen).toEqual([]);
});

test("sleep ends with time or with its signal's reason, whichever comes first", async () => {
  const clock = manualClock();
  const stop = new AbortController();
  const reason = new Error("enough");
  const short = sleep(clock, 10, stop.signal);
  const long = expect(sleep(clock, 20, stop.signal)).rejects.toBe(reason);
  await clock.pass(10);
  await short;
  stop.abort(reason);
  await long;
  await expect(sleep(clock, 10, stop.signal)).rejects.toBe(reason);
});

test("the system's clock counts milliseconds, and it never goes back", () => {
  const uptime = process.uptime() * 1000;
  const first = systemClock.now();
  const second = systemClock.now();
  expect(first).toBeGreaterThanOrEqual(uptime);
  expect(second).toBeGreaterThanOrEqual(first);
  expect(process.uptime() * 1000).toBeGreaterThanOrEqual(second);
});

test("only a background timer lets the process end", () => {
  const kinds = (): readonly string[] => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout");
  const before = kinds().length;
  const callOff = [
    systemClock.after(1_000_000, () => {}, { background: true }),
    systemClock.after(1_000_000, () => {}, { background: true }),
  ];
  expect(kinds()).toHaveLength(before);
  callOff.push(
    systemClock.after(1_000_000, () => {}),
    systemClock.after(1_000_000, () => {}, { background: false }),
  );
  expect(kinds()).toHaveLength(before + 2);
  for (const stop of callOff) stop();
});

test("a sleep that ended leaves neither a listener nor a timer", async () => {
  const clock = manualClock();
  const stop = new AbortController();
  const slept = sleep(clock, 10, stop.signal);
  expect([getEventListeners(stop.signal, "abort").length, clock.pending()]).toEqual([1, 1]);
  await clock.pass(10);
  await slept;
  expect([getEventListeners(stop.signal, "abort").length, clock.pending()]).toEqual([0, 0]);
  const aborted = expect(sleep(clock, 10, stop.signal)).rejects.toBe("enough");
  stop.abort("enough");
  await aborted;
  expect([getEventListeners(stop.signal, "abort").length, clock.pending()]).toEqual([0, 0]);
});

test("sleep passes the options of the timer on", async () => {
  const given: unknown[] = [];
  const clock: Clock = {
    now: () => 0,
    after(milliseconds, action, how) {
      given.push([milliseconds, how]);
      queueMicrotask(action);
      return () => {};
    },
  };
  const { signal } = new AbortController();
  await sleep(clock, 5, signal, { background: true });
  await sleep(clock, 6, signal);
  expect(given).toEqual([
    [5, { background: true }],
    [6, undefined],
  ]);
});
