import { expect, test } from "vitest";
import { waitWords } from "../../src/text/wait-words.ts";

test.each([
  [-5, "0 s"],
  [0, "0 s"],
  [1, "1 s"],
  [12_000, "12 s"],
  [120_000, "120 s"],
  [120_001, "3 min"],
  [3_600_000, "60 min"],
  [7_200_000, "120 min"],
  [7_200_001, "3 h"],
  [86_400_000, "24 h"],
])("%i ms is %s", (milliseconds, words) => {
  expect(waitWords(milliseconds)).toBe(words);
});
