import { expect, test } from "vitest";
import { PausableTime } from "../../src/rpc/time.ts";
import { type StoppedTime, stoppedTime } from "../support/simulated-time.ts";

/** Time with a timer of 1000 ms that notes when it ran. */
function timed(): { outer: StoppedTime; time: PausableTime; ran: number[]; cancel: () => void } {
  const outer = stoppedTime();
  const time = new PausableTime(outer);
  const ran: number[] = [];
  const cancel = time.after(1000, () => ran.push(outer.now()));
  return { outer, time, ran, cancel };
}

test("a timer runs when its time has passed, and not a moment earlier", () => {
  const { outer, ran } = timed();
  outer.advance(999);
  expect(ran).toEqual([]);
  outer.advance(1);
  expect(ran).toEqual([1000]);
  expect(outer.left()).toEqual([]);
});

test("pauses do not count, however many there are at the same time", () => {
  const { outer, time, ran } = timed();
  outer.advance(600);
  time.pause();
  outer.advance(10_000);
  time.pause();
  outer.advance(10_000);
  time.resume();
  outer.advance(10_000);
  expect([time.now(), time.pausedFor, outer.left()]).toEqual([600, 0, []]);
  time.resume();
  expect([time.now(), time.pausedFor]).toEqual([600, 30_000]);
  outer.advance(399);
  expect(ran).toEqual([]);
  outer.advance(1);
  expect(ran).toEqual([31_000]);
});

test("paused a second time, a timer has only what the first time left", () => {
  const { outer, time, ran } = timed();
  for (let times = 0; times < 3; times += 1) {
    outer.advance(300);
    time.pause();
    outer.advance(5000);
    time.resume();
  }
  outer.advance(99);
  expect(ran).toEqual([]);
  outer.advance(1);
  expect(ran).toEqual([16_000]);
});

test("a timer of a pause runs from its end on", () => {
  const { outer, time, ran } = timed();
  time.pause();
  time.after(10, () => ran.push(-1));
  outer.advance(5000);
  expect(ran).toEqual([]);
  time.resume();
  outer.advance(10);
  expect(ran).toEqual([-1]);
});

test.each(["before the pause", "in the pause", "after the pause"])("a timer that is cancelled %s is gone", (when) => {
  const { outer, time, ran, cancel } = timed();
  if (when === "before the pause") cancel();
  time.pause();
  if (when === "in the pause") cancel();
  time.resume();
  cancel();
  expect(outer.left()).toEqual([]);
  outer.advance(5000);
  expect(ran).toEqual([]);
});

test("it is paused until the work is over, also if the work fails", async () => {
  const { outer, time } = timed();
  const working = time.pausedDuring(async () => {
    outer.advance(5000);
    throw new Error("no");
  });
  await expect(working).rejects.toThrow("no");
  expect([time.now(), time.pausedFor, outer.left()]).toEqual([0, 5000, [1000]]);
});

test("a timer may set the next one, and pause its own time", () => {
  const { outer, time, ran } = timed();
  time.after(1000, () => {
    time.pause();
    time.after(5, () => ran.push(outer.now()));
  });
  outer.advance(2000);
  expect(ran).toEqual([1000]);
  time.resume();
  outer.advance(5);
  expect(ran).toEqual([1000, 2005]);
});
