import { expect, test } from "vitest";
import { Sessions } from "../../src/server/door/sessions.ts";

/** Sessions with timers that a test runs by itself. */
function scene() {
  const timers = new Map<() => void, number>();
  const sessions = new Sessions<string>({
    after(milliseconds, action) {
      timers.set(action, milliseconds);
      return () => timers.delete(action);
    },
  });
  const find = (bearer = ""): string | undefined => sessions.find(`Bearer ${bearer}`)?.subject;
  return { sessions, timers, find };
}

test("a code is exchanged once, for a bearer that is another secret", () => {
  const { sessions, find, timers } = scene();
  const code = sessions.newCode("console", 60_000);
  expect([...timers.values()]).toEqual([60_000]);
  const bearer = sessions.exchange(code, "console");
  expect(bearer).toMatch(/^[\w-]{43}$/);
  expect(bearer).not.toBe(code);
  expect(find(bearer)).toBe("console");
  expect(sessions.exchange(code, "console")).toBeUndefined();
  expect(find(code)).toBeUndefined();
  expect(timers.size).toBe(0);
});

test("an old code is worth nothing", () => {
  const { sessions, timers } = scene();
  const code = sessions.newCode("console", 60_000);
  for (const expire of timers.keys()) expire();
  expect(sessions.exchange(code, "console")).toBeUndefined();
});

test("a code opens only what it was made for, and a wrong attempt does not use it up", () => {
  const { sessions } = scene();
  const code = sessions.newCode("one", 1000);
  sessions.newCode("two", 1000);
  expect(sessions.exchange(code, "two")).toBeUndefined();
  expect(sessions.exchange("", "one")).toBeUndefined();
  expect(sessions.exchange(code, "one")).toBeDefined();
});

test("only a whole header with the scheme Bearer is looked at", () => {
  const { sessions } = scene();
  const bearer = sessions.exchange(sessions.newCode("one", 1000), "one") ?? "";
  for (const header of [
    undefined,
    "",
    bearer,
    `bearer ${bearer}`,
    `Bearer  ${bearer}`,
    `Bearer ${bearer} `,
    `Basic ${bearer}`,
  ])
    expect(sessions.find(header)).toBeUndefined();
});

test("the end of a subject ends its codes and bearers, and tells what uses them; others stay", () => {
  const { sessions, find, timers } = scene();
  const unused = sessions.newCode("one", 1000);
  const one = sessions.exchange(sessions.newCode("one", 1000), "one") ?? "";
  const two = sessions.exchange(sessions.newCode("two", 1000), "two") ?? "";
  const signal = sessions.find(`Bearer ${one}`)?.signal;
  expect(signal?.aborted).toBe(false);
  sessions.end("one");
  expect(signal?.aborted).toBe(true);
  expect([find(one), find(two)]).toEqual([undefined, "two"]);
  expect(sessions.exchange(unused, "one")).toBeUndefined();
  expect(timers.size).toBe(0);
});

test("a subject has at most 32 codes and 32 sessions: one more ends the oldest of this subject", () => {
  const { sessions, find, timers } = scene();
  const other = sessions.newCode("other", 1000);
  const codes = Array.from({ length: 33 }, () => sessions.newCode("one", 1000));
  expect(timers.size).toBe(33);
  expect(sessions.exchange(codes[0] ?? "", "one")).toBeUndefined();
  const bearers = [...codes.slice(1), sessions.newCode("one", 1000)].map((code) => sessions.exchange(code, "one"));
  expect(bearers.map((bearer) => find(bearer))).toEqual([undefined, ...Array.from({ length: 32 }, () => "one")]);
  expect(sessions.exchange(other, "other")).toBeDefined();
});
