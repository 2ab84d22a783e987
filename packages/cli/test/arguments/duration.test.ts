import { describe, expect, test } from "vitest";
import { parseDuration, readDuration, readTimeout, timeoutOption } from "../../src/arguments/duration.ts";

describe("a length of time", () => {
  test.each([
    ["0", 0],
    ["0s", 0],
    ["1500", 1_500],
    ["500ms", 500],
    ["10s", 10_000],
    ["1.5s", 1_500],
    ["2m", 120_000],
  ])("%s is %i ms", (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
    expect(readDuration("--wait", text)).toBe(milliseconds);
  });

  test.each(["", "-1s", "10 s", "1h", "s", "1e3s", "9999999999s", "NaN", "0x1s"])("%j is none", (text) => {
    expect(parseDuration(text)).toBeUndefined();
    expect(() => readDuration("--wait", text)).toThrow(`--wait must be a time such as 500ms, 10s or 2m, not "${text}"`);
  });

  test("a timeout is longer than nothing", () => {
    expect([timeoutOption({}), timeoutOption({ timeout: "2m" })]).toEqual([{}, { timeout: 120_000 }]);
    expect(readTimeout("500ms")).toBe(500);
    expect(() => timeoutOption({ timeout: "0s" })).toThrow('--timeout must be more than 0, not "0s"');
  });
});
