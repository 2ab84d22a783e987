import { expect, test } from "vitest";
import { toSnapshot } from "../../src/checks/masks.ts";

const hide = (text: string): string => text.replaceAll("secret", "(hidden)");
const snapshot = (value: unknown): unknown => toSnapshot(value, hide, []);

test.each([
  ["id 123e4567-e89b-12d3-a456-426614174000.", "id <uuid>."],
  ["at 2026-01-31T08:30:00.000Z", "at <time>"],
  ["at 2026-01-31 08:30:00+01:00", "at <time>"],
  ["at 08:30:15 PM", "at <time>"],
  ["on Sat, Jan 31 2026 08:30:15 GMT+0100 (CET)\nok", "on <time>\nok"],
  ["on Saturday Jan 1 2026 08:30:15", "on <time>"],
  ["1767225600000", "<time>"],
  ["commit 0123456789abcdef0", "commit <id>"],
  ["deadbeefdeadbeef and 1234567890123456", "deadbeefdeadbeef and 1234567890123456"],
])("%j is stored as %j", (text, stored) => {
  expect(snapshot(text)).toBe(stored);
});

test("a number stays a number unless it is a time or a secret", () => {
  expect(snapshot({ count: 42, half: 0.5, at: 1767225600000 })).toEqual({ count: 42, half: 0.5, at: "<time>" });
  expect(toSnapshot([4711, 4712], (text) => text.replaceAll("4711", "(hidden)"), [])).toEqual(["(hidden)", 4712]);
});

test("secrets are hidden in texts and in names; other values stay as they are", () => {
  expect(snapshot({ "a secret": ["my secret"], yes: true, none: null })).toEqual({
    "a (hidden)": ["my (hidden)"],
    yes: true,
    none: null,
  });
});
