import { expect, test } from "vitest";
import { createLogFilter, toMoment } from "../../src/shell/log-lines.ts";

const now = Date.parse("2026-01-31T12:00:00.000Z");
const line = "2026-01-31T11:50:00.000Z demo Server Started";

test.each([
  ["server", true],
  ["Server", true],
  ["SERVER", false],
  ["sErver", false],
  ["^2026.*started$", true],
  ["12", false],
])("--grep %s counts capital letters only if it has some itself", (grep, expected) => {
  expect(createLogFilter({ grep }, now)(line)).toBe(expected);
});

test.each([
  ["10m", true],
  ["599s", false],
  ["1h", true],
  ["0.5 h", true],
  ["1d", true],
  ["2026-01-31T11:50:00Z", true],
  ["2026-01-31T11:50:00.001Z", false],
])("--since %s keeps the lines from that moment on", (since, expected) => {
  expect(createLogFilter({ since }, now)(line)).toBe(expected);
  expect(createLogFilter({ since, grep: "other" }, now)(line)).toBe(false);
});

test("a date without a time begins at midnight, and a time needs no seconds", () => {
  const utc = (word: string): string => new Date(toMoment(word, now, { isUtc: true })).toISOString();
  expect(["2026-01-31", "2026-01-31T08:30", "2026-01-31 08:30:15.5"].map(utc)).toEqual([
    "2026-01-31T00:00:00.000Z",
    "2026-01-31T08:30:00.000Z",
    "2026-01-31T08:30:15.500Z",
  ]);
  expect(toMoment("2026-01-31", now)).toBe(new Date(2026, 0, 31).getTime());
});

test.each(["soon", "10 weeks", "9999999999999d", "2026-13-01"])("--since %s is refused", (since) => {
  expect(() => createLogFilter({ since }, now)).toThrow(
    expect.objectContaining({
      code: "usage",
      message: `--since "${since}" is not a time or a duration`,
      next: "--since 10m, --since 2h, --since 2026-01-31 or --since 2026-01-31T08:30",
    }),
  );
});

test("a pattern that is none is refused", () => {
  expect(() => createLogFilter({ grep: "(" }, now)).toThrow(
    expect.objectContaining({ code: "usage", message: expect.stringMatching(/^--grep: ./) }),
  );
});
