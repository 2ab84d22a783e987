import { expect, test } from "vitest";
import { once } from "../../src/files/once.ts";

test("a value that is made once is the same for every caller", async () => {
  let count = 0;
  const make = once(async () => {
    count += 1;
    return { count };
  });
  expect(await make()).toBe(await make());
  expect(count).toBe(1);
});
