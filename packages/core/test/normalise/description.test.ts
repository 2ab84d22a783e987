import { expect, test } from "vitest";
import { describeForModel } from "../../src/normalise/description.ts";

test.each([
  ["short ones stay", "Reads a file.\n\tAny file.", "Reads a file.\n\tAny file."],
  ["instructions that a person cannot see are left out", `a\u200bb${String.fromCodePoint(0xe0049)}`, "ab"],
  ["as long as may be", "é".repeat(4096), "é".repeat(4096)],
])("%s", (_, description, shown) => {
  expect(describeForModel(description)).toBe(shown);
});

test("a longer one ends visibly, and no longer than may be", () => {
  const shown = describeForModel("x".repeat(10_000));
  expect(shown).toMatch(/^x+… \[cut here: the description has 10000 characters\]$/);
  expect(shown).toHaveLength(4096);
});

test("no character is cut in two", () => {
  const [even, odd] = ["", "x"].map((start) => describeForModel(`${start}${"🙂".repeat(4096)}`));
  expect(`${even}${odd}`).not.toMatch(/\p{Cs}/u);
  expect(new Set([even?.length, odd?.length])).toEqual(new Set([4095, 4096]));
});
