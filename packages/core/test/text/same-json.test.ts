import { expect, test } from "vitest";
import { isSameJson } from "../../src/text/same-json.ts";

test.each<[unknown, unknown, boolean]>([
  [1, 1, true],
  [1, "1", false],
  [null, {}, false],
  [[], {}, false],
  [[1, 2], [2, 1], false],
  [[1], [1, 2], false],
  [{ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }, true],
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: 1 }, { b: 1 }, false],
  [{ a: { b: 1 } }, { a: { b: 2 } }, false],
])("%j and %j: %j", (one, other, isSame) => {
  expect(isSameJson(one, other)).toBe(isSame);
  expect(isSameJson(other, one)).toBe(isSame);
});

test("members that an object inherits do not count", () => {
  expect(isSameJson({ toString: 1 }, { valueOf: 1 })).toBe(false);
});

test("however deep", () => {
  const deep = (end: number): unknown => JSON.parse(`${"[".repeat(100_000)}${end}${"]".repeat(100_000)}`);
  expect(isSameJson(deep(1), deep(1))).toBe(true);
  expect(isSameJson(deep(1), deep(2))).toBe(false);
});
