import { expect, test } from "vitest";
import { watchForSleep } from "../../src/server/connection-group.ts";
import { manualClock } from "../support/manual-clock.ts";

test("a step of more than thirty seconds between two looks is noticed, once; an ordinary pause is not", async () => {
  const clock = manualClock();
  let asleep = 0;
  let wakings = 0;
  const stop = watchForSleep(
    clock,
    () => clock.now() + asleep,
    () => (wakings += 1),
  );
  await clock.pass(100_000);
  asleep += 20_000;
  await clock.pass(100_000);
  expect(wakings).toBe(0);
  asleep += 8 * 3_600_000;
  await clock.pass(10_000);
  expect(wakings).toBe(1);
  // The clock on the wall was put back.
  asleep = 0;
  await clock.pass(100_000);
  expect(wakings).toBe(1);
  stop();
  asleep += 3_600_000;
  await clock.pass(100_000);
  expect(wakings).toBe(1);
});
