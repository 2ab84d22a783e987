import { describe, expect, test } from "vitest";
import { readDuration } from "../../src/headless/options.ts";

describe("a length of time", () => {
  test.each([
    ["0", 0],
    ["0s", 0],
    ["500ms", 500],
    ["10s", 10_000],
    ["1.5s", 1_500],
    ["2m", 120_000],
  ])("%s is %i ms", (text, milliseconds) => {
    expect(readDuration("--wait", text)).toBe(milliseconds);
  });

  test.each(["", "10", "-1s", "10 s", "1h", "s", "1e3s", "9999999999s", "NaN", "0x1s"])("%j is none", (text) => {
    expect(() => readDuration("--wait", text)).toThrow(`--wait must be a time such as 500ms, 10s or 1m, not "${text}"`);
  });
});
