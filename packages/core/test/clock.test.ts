import { expect, test } from "vitest";
import { sleep, systemClock } from "../src/clock.ts";
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
