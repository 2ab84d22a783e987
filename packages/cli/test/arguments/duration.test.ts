import { describe, expect, test } from "vitest";
import { readDuration, readTimeout } from "../../src/arguments/duration.ts";

describe("a length of time", () => {
  test.each([
    ["0", 0],
    ["0s", 0],
    ["500ms", 500],
    ["10s", 10_000],
    ["1.5s", 1_500],
    ["2m", 120_000],
    ["250", 250],
  ])("%s is %i ms", (text, milliseconds) => {
    expect(readDuration("--wait", text)).toBe(milliseconds);
  });

  test("a timeout of nothing is none", () => {
    expect(readTimeout("10s")).toBe(10_000);
    for (const text of ["0", "0s"]) expect(() => readTimeout(text)).toThrow(`--timeout must be more than 0`);
  });

  test.each(["", "-1s", "10 s", "1h", "s", "1e3s", "9999999999s", "NaN", "0x1s"])("%j is none", (text) => {
    expect(() => readDuration("--wait", text)).toThrow(`--wait must be a time such as 500ms, 10s or 2m, not "${text}"`);
  });
});
