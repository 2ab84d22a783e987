import { expect, test } from "vitest";
import { backoffPause } from "../../src/server/recovery-plan.ts";

const middle = (): number => 0.5;

test("pauses begin with a second, grow by 1.6 and stop growing before a minute", () => {
  const pauses = [0, 1, 2, 3, 8, 9, 1000].map((tries) => Math.round(backoffPause(tries, middle)));
  expect(pauses).toEqual([1000, 1600, 2560, 4096, 42_950, 50_000, 50_000]);
});

test("chance makes them a fifth longer or shorter, and never longer than a minute", () => {
  expect([backoffPause(0, () => 0), backoffPause(0, () => 1), backoffPause(99, () => 1)]).toEqual([800, 1200, 60_000]);
});
