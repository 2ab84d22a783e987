import { expect, test } from "vitest";
import { isLogLevel, lowest, reaches } from "../../src/bridge/log-levels.ts";

const ascending = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

test("the eight levels are ordered from debug to emergency", () => {
  expect(ascending.map(isLogLevel)).toEqual(ascending.map(() => true));
  expect(["trace", "", undefined, 0].map(isLogLevel)).toEqual([false, false, false, false]);
  const reached = ascending.map((level) => ascending.filter((least) => reaches(level, least)));
  expect(reached).toEqual(ascending.map((_, at) => ascending.slice(0, at + 1)));
  expect(reaches("trace", "emergency")).toBe(true);
});

test("the lowest of several levels is found in any order", () => {
  for (const [at, level] of ascending.entries()) {
    expect(lowest(ascending.slice(at))).toBe(level);
    expect(lowest(ascending.slice(at).toReversed())).toBe(level);
  }
  expect(lowest([])).toBeUndefined();
});
