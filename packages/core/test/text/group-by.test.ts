import { expect, test } from "vitest";
import { groupBy } from "../../src/text/group-by.ts";

test("groups and their members keep the order in which they come", () => {
  const items = ["b1", "a1", "b2", "__proto__"];
  expect([...groupBy(items, (item) => item.replace(/\d/, ""))]).toEqual([
    ["b", ["b1", "b2"]],
    ["a", ["a1"]],
    ["__proto__", ["__proto__"]],
  ]);
  expect(groupBy([], String).size).toBe(0);
});
