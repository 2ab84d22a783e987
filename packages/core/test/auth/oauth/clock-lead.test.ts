import { expect, test } from "vitest";
import { clockLeadOf, clockProblem, durationWords } from "../../../src/auth/oauth/failure.ts";

const second = 1_000;
const minute = 60 * second;

test("this machine's lead is counted from the middle of the second that the server names", () => {
  const date = "Wed, 01 Jan 2025 00:00:00 GMT";
  const at = Date.UTC(2025, 0, 1);
  expect(clockLeadOf(date, at + 500)).toBe(0);
  expect(clockLeadOf(date, at + 61_500)).toBe(61_000);
  expect(clockLeadOf(date, at - 60_000)).toBe(-60_500);
});

test.each([undefined, null, "", "soon"])("the server's date %j gives no lead", (date) => {
  expect(clockLeadOf(date, 0)).toBeUndefined();
});

test("a clock that is wrong by more than 30 s is named, with the server's time and the advice", () => {
  const now = Date.UTC(2025, 0, 1, 12);
  const next = "Set this machine's clock, for example with NTP, then try again.";
  expect(clockProblem(30_001, now)).toEqual({
    why: "this machine's clock is 30 s ahead (the server's clock shows 2025-01-01T11:59:29.999Z)",
    next,
  });
  expect(clockProblem(-5 * minute, now)).toEqual({
    why: "this machine's clock is 5 min behind (the server's clock shows 2025-01-01T12:05:00.000Z)",
    next,
  });
});

test.each([undefined, 0, 30_000, -30_000])("a lead of %j is no problem of the clock", (lead) => {
  expect(clockProblem(lead, 0)).toBeUndefined();
});

test.each([
  [0, "0 s"],
  [1_499, "1 s"],
  [119 * second, "119 s"],
  [120 * second, "2 min"],
  [150 * second, "3 min"],
  [119 * minute, "119 min"],
  [120 * minute, "2 h"],
  [49 * 60 * minute, "49 h"],
])("the user reads %d ms as %s", (milliseconds, words) => {
  expect(durationWords(milliseconds)).toBe(words);
});
