import { describe, expect, test } from "vitest";
import type { RetryClass } from "../../src/connect/retryable.ts";
import { type End, emptyHistory, type Plan, planAfter, type RetryHistory } from "../../src/server/recovery-plan.ts";

const chance = { random: () => 0.5, now: () => 0 };
const retry = (kind: RetryClass["kind"]): RetryClass => ({ kind });

/** The plans after these ends, one after the other. */
function plansAfter(...ends: readonly End[]): readonly (Plan["kind"] | number)[] {
  let history: RetryHistory = emptyHistory;
  return ends.map((end) => {
    const { plan, history: after } = planAfter(history, end, chance);
    history = after;
    return plan.kind === "wait" ? Math.round(plan.milliseconds) : plan.kind;
  });
}

const crash: End = { retry: retry("crash"), lasted: 10, wasUp: true };
const outage: End = { retry: retry("outage"), lasted: 10, wasUp: false };
const lostSession: End = { retry: retry("session"), lasted: 10, wasUp: true };

test("a server that keeps ending soon is given up at the fifth end", () => {
  expect(plansAfter(crash, crash, crash, crash, crash)).toEqual([1000, 1600, 2560, 4096, "give_up"]);
});

test("starts that fail after one that went well count as well", () => {
  const failed: End = { ...crash, wasUp: false };
  expect(plansAfter(crash, failed, failed, failed, failed)).toEqual([1000, 1600, 2560, 4096, "give_up"]);
});

test("who fails at the very first start is not tried again: more likely its settings are wrong", () => {
  expect(plansAfter({ ...crash, wasUp: false })).toEqual(["stay"]);
});

test("only staying up for a minute starts the pauses and the count anew; connecting alone does not", () => {
  const later: End = { ...crash, lasted: 60_000 };
  expect(plansAfter(crash, crash, { ...crash, lasted: 59_999 }, later, crash, crash, crash, crash, crash)).toEqual([
    1000,
    1600,
    2560,
    1000,
    1600,
    2560,
    4096,
    6554,
    "give_up",
  ]);
});

test("a server that cannot be reached is tried for as long as it takes", () => {
  const plans = plansAfter(...Array.from({ length: 20 }, () => outage));
  expect([plans[0], plans[1], plans.at(-1)]).toEqual([1000, 1600, 50_000]);
});

test("a forgotten session is replaced at once; one after the other, with pauses, but never given up", () => {
  const forgetful = Array.from({ length: 8 }, () => lostSession);
  expect(plansAfter(...forgetful)).toEqual(["try_at_once", 1000, 1600, 2560, 4096, 6554, 10_486, 16_777]);
  expect(plansAfter(lostSession, { ...lostSession, lasted: 60_000 })).toEqual(["try_at_once", "try_at_once"]);
});

test("who waits for a person waits", () => {
  expect(plansAfter({ ...outage, retry: retry("never") }, { ...crash, retry: retry("never") })).toEqual([
    "stay",
    "stay",
  ]);
});

describe("a server that says when to come back", () => {
  const says = (retryAfter: string): End => ({ ...outage, retry: { kind: "outage", retryAfter } });

  test.each<[string, number]>([
    ["20", 21_000],
    ["0", 1000],
    ["-5", 1000],
    ["3600", 3_780_000],
    ["86400", 86_400_000],
    ["999999999", 86_400_000],
    ["tomorrow", 1000],
  ])("%s: not before, a little later, and not without the usual pause", (retryAfter, pause) => {
    expect(plansAfter(says(retryAfter))).toEqual([pause]);
  });
});
