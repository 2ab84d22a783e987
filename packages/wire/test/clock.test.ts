import { expect, test } from "vitest";
import { type Clock, createClock } from "../src/clock.ts";

const never = Number.POSITIVE_INFINITY;

/** A clock that has to ring once, and whether it did. */
function clockWithBell(delay: number): { clock: Clock; rung: Promise<number>; rang: () => boolean; moment: number } {
  let rang = false;
  let tell: (now: number) => void = () => {};
  const rung = new Promise<number>((resolve) => {
    tell = resolve;
  });
  const clock = createClock((now) => {
    rang = true;
    tell(now);
    return never;
  });
  const moment = clock.now() + delay;
  clock.ringBy(moment);
  return { clock, rung, rang: () => rang, moment };
}

test("rings when the moment has come, not before", async () => {
  for (let delay = 1; delay < 10; delay += 1) {
    const { rung, moment } = clockWithBell(delay);
    expect(await rung).toBeGreaterThanOrEqual(moment);
  }
});

test("the earliest moment counts, whatever was asked for first, and then the next", async () => {
  const { clock, moment, rung } = await new Promise<{ clock: Clock; moment: number; rung: number[] }>((resolve) => {
    const moments: number[] = [];
    const made = createClock((now) => {
      moments.push(now);
      if (moments.length === 1) return began + 20;
      resolve({ clock: made, moment: began, rung: moments });
      return never;
    });
    const began = made.now();
    made.ringBy(began + 60_000);
    made.ringBy(began + 5);
    made.ringBy(began + 30_000);
  });
  clock.stop();
  expect(rung).toHaveLength(2);
  expect(rung[1]).toBeGreaterThanOrEqual(moment + 20);
});

test("it does not ring while it stands still, and then only after the time that was left", async () => {
  const held = clockWithBell(5);
  held.clock.hold();
  await clockWithBell(30).rung;
  expect(held.rang()).toBe(false);
  held.clock.release();
  expect(held.clock.now()).toBeLessThan(held.moment);
  await held.rung;
});

test("it goes on only when everybody who held it has let go", () => {
  const clock = createClock(() => never);
  clock.hold();
  clock.hold();
  const stood = clock.now();
  clock.release();
  expect(clock.now()).toBe(stood);
  clock.release();
  expect(clock.now()).toBeGreaterThanOrEqual(stood);
});

test("a moment beyond the longest delay of a timer is not now", async () => {
  const far = clockWithBell(2 ** 40);
  await clockWithBell(5).rung;
  expect(far.rang()).toBe(false);
  far.clock.stop();
});

test("once stopped it does not ring", async () => {
  const stopped = clockWithBell(1);
  stopped.clock.stop();
  await clockWithBell(5).rung;
  expect(stopped.rang()).toBe(false);
});
