import { expect, test } from "vitest";
import { createRateLimit } from "../../src/connect/text-lines.ts";

test("a burst may pass at once, then so many a second, and never more than a burst", () => {
  let time = 1000;
  const limit = createRateLimit(2, 5, () => time);
  const after = (milliseconds: number, wanted: number): number => {
    time += milliseconds;
    return limit.take(wanted);
  };
  expect([after(0, 2), after(0, 9), after(0, 1)]).toEqual([2, 3, 0]);
  expect([after(499, 1), after(1, 1), after(0, 1)]).toEqual([0, 1, 0]);
  expect([after(1500, 2), after(0, 2)]).toEqual([2, 1]);
  expect(after(60_000, 99)).toBe(5);
});
