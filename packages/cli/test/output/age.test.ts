import { expect, test } from "vitest";
import { ageWords } from "../../src/output/time-text.ts";

const hour = 60 * 60 * 1000;

test.each([
  [25 * hour, "25 hours"],
  [47.9 * hour, "47 hours"],
  [48 * hour, "2 days"],
  [100 * 24 * hour, "100 days"],
])("%d milliseconds are %s", (milliseconds, words) => {
  expect(ageWords(milliseconds)).toBe(words);
});
