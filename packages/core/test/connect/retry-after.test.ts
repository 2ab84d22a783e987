import { seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { retryAfterPause } from "../../src/connect/retryable.ts";

describe("Retry-After", () => {
  const now = Date.parse("2026-11-16T00:00:00Z");

  test.each<[string, number | undefined]>([
    ["0", 0],
    ["7", 7000],
    [" 7 ", 7000],
    ["1.5", 1500],
    ["-7", 0],
    ["300", 300_000],
    ["301", 301_000],
    ["3600", 3_600_000],
    ["86401", 86_400_000],
    ["99999999999999999999999", 86_400_000],
    ["Mon, 16 Nov 2026 00:00:30 GMT", 30_000],
    ["Sun, 15 Nov 2026 00:00:00 GMT", 0],
    ["Mon, 16 Nov 2026 09:00:00 GMT", 32_400_000],
    ["Tue, 16 Nov 2036 00:00:00 GMT", 86_400_000],
    ["soon", undefined],
    ["", undefined],
    ["NaN", undefined],
  ])("%j", (wish, pause) => {
    expect(retryAfterPause(wish, now)).toBe(pause);
  });

  test("whatever it says, it is no pause or one between nothing and a day", () => {
    const start = seed();
    const words = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.bigInt().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    );
    fc.assert(
      fc.property(words, (wish) => {
        const pause = retryAfterPause(wish, now) ?? 0;
        expect(pause >= 0 && pause <= 86_400_000, `seed ${start}`).toBe(true);
      }),
      { seed: start },
    );
  });
});
