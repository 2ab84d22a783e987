import { expect, test } from "vitest";
import { createTurns } from "../../src/text/turns.ts";

test("small work goes on at once; after so much of it, the rest of the program has its turn", async () => {
  const turns = createTurns(100);
  expect([40, 40].map((size) => turns.done(size))).toEqual([undefined, undefined]);
  let others = 0;
  setImmediate(() => {
    others += 1;
  });
  await turns.done(40);
  expect(others).toBe(1);
  expect(turns.done(40)).toBeUndefined();
});
