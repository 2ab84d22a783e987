import { expect, test } from "vitest";
import { RequestClock } from "../../src/rpc/time.ts";
import { type StoppedTime, stoppedTime } from "../support/simulated-time.ts";

const never = Number.POSITIVE_INFINITY;

/** A clock that has to ring after this delay, and the moments at which it rang. */
function clockWithBell(delay: number): { clock: RequestClock; time: StoppedTime; rang: number[] } {
  const time = stoppedTime();
  const rang: number[] = [];
  const clock = new RequestClock((now) => {
    rang.push(now);
    return never;
  }, time);
  clock.wakeBy(clock.now() + delay);
  return { clock, time, rang };
}

test("rings when the moment has come, not before, by the system's time", async () => {
  for (let delay = 1; delay < 10; delay += 1) {
    const { moment, rung } = await new Promise<{ moment: number; rung: number }>((resolve) => {
      const clock = new RequestClock((now) => {
        resolve({ moment: began + delay, rung: now });
        return never;
      });
      const began = clock.now();
      clock.wakeBy(began + delay);
    });
    expect(rung).toBeGreaterThanOrEqual(moment);
  }
});

test("a timer that is early does not ring it", () => {
  const time = stoppedTime();
  const rang: number[] = [];
  const early = { ...time, after: (delay: number, action: () => void) => time.after(Math.max(delay - 3, 1), action) };
  const clock = new RequestClock((now) => {
    rang.push(now);
    return never;
  }, early);
  clock.wakeBy(10);
  time.advance(9);
  expect(rang).toEqual([]);
  time.advance(1);
  expect(rang).toEqual([10]);
});

test("the earliest moment counts, whatever was asked for first, and then the next", () => {
  const time = stoppedTime();
  const rang: number[] = [];
  const clock = new RequestClock((now) => (rang.push(now) === 1 ? 20 : never), time);
  clock.wakeBy(60_000);
  clock.wakeBy(5);
  clock.wakeBy(30_000);
  time.advance(100_000);
  expect(rang).toEqual([5, 20]);
  expect(time.left()).toEqual([]);
});

test("it does not ring while it stands still, and then only after the time that was left", () => {
  const { clock, time, rang } = clockWithBell(5);
  time.advance(2);
  clock.pause();
  time.advance(1_000);
  expect([rang, clock.now()]).toEqual([[], 2]);
  clock.resume();
  time.advance(2);
  expect(rang).toEqual([]);
  time.advance(1);
  expect(rang).toEqual([5]);
});

test("it goes on only when every holder has released it", () => {
  const { clock, time } = clockWithBell(60_000);
  clock.pause();
  clock.pause();
  time.advance(10);
  clock.resume();
  time.advance(10);
  expect(clock.now()).toBe(0);
  clock.resume();
  time.advance(10);
  expect(clock.now()).toBe(10);
});

test("a moment beyond the longest delay of a timer is reached in several steps", () => {
  const { time, rang } = clockWithBell(2 ** 32);
  expect(time.left()).toEqual([2 ** 31 - 1]);
  time.advance(2 ** 32 - 1);
  expect(rang).toEqual([]);
  time.advance(1);
  expect(rang).toEqual([2 ** 32]);
});

test("once stopped it does not ring", () => {
  const { clock, time, rang } = clockWithBell(1);
  clock.stop();
  time.advance(10);
  expect([rang, time.left()]).toEqual([[], []]);
});
