import { describe, expect, test } from "vitest";
import type { WireError } from "../../src/errors.ts";
import { createReadBudget, lineCost } from "../../src/rpc/read-budget.ts";
import { turn } from "../support/collected.ts";
import { stoppedTime } from "../support/simulated-time.ts";

/** Ten lines a turn; ten unsolicited lines at once and then ten a second; flooding after a second over that. */
function budgetOf(limits: { readonly turnLines?: number } = {}) {
  const time = stoppedTime();
  const floods: WireError[] = [];
  const budget = createReadBudget({
    limits: {
      turnBytes: 1000,
      turnLines: 10,
      unsolicitedRate: 10 * lineCost,
      unsolicitedBurst: 10 * lineCost,
      ...limits,
    },
    times: { flood: 1000 },
    time,
    onFlooding: (cause) => floods.push(cause),
  });
  const resumed: number[] = [];
  const wait = (): void => budget.whenRefilled(() => resumed.push(time.now()));
  return { budget, time, floods, resumed, wait };
}

describe("one turn of the event loop", () => {
  test.each([
    ["lines", ({ budget }: ReturnType<typeof budgetOf>) => budget.lines(1), 10],
    ["bytes", ({ budget }: ReturnType<typeof budgetOf>) => budget.bytes(250), 4],
  ])("has a number of %s, and the next turn has as many again", async (_, spend, count) => {
    const opened = budgetOf();
    for (let round = 0; round < 3; round += 1) {
      for (let left = count; left > 0; left -= 1) {
        expect(opened.budget.isSpent()).toBe(false);
        spend(opened);
      }
      expect(opened.budget.isSpent()).toBe(true);
      opened.wait();
      expect(opened.budget.isWaiting()).toBe(true);
      await turn();
      expect(opened.resumed).toHaveLength(round + 1);
    }
    expect(opened.time.left()).toEqual([]);
  });

  test("has a quarter as many lines that answer no request", () => {
    const { budget } = budgetOf();
    budget.lines(2);
    budget.unsolicited("notifications", 1, 2);
    expect(budget.isSpent()).toBe(false);
    budget.lines(1);
    budget.unsolicited("notifications", 1, 1);
    expect(budget.isSpent()).toBe(true);
  });

  test("lets all pipes of a server go on together", async () => {
    const { budget, resumed, wait } = budgetOf();
    budget.lines(10);
    wait();
    wait();
    await turn();
    expect(resumed).toHaveLength(2);
  });
});

describe("unsolicited output", () => {
  const endlessTurns = { turnLines: Number.POSITIVE_INFINITY };

  test("over its rate waits as long as the rate needs, not for the next turn", async () => {
    const { budget, time, resumed, wait } = budgetOf(endlessTurns);
    budget.unsolicited("notifications", 1, 15);
    expect(budget.isSpent()).toBe(true);
    wait();
    await turn();
    expect(resumed).toEqual([]);
    expect(time.left()).toEqual([500]);
    time.advance(500);
    expect(resumed).toEqual([500]);
    expect(budget.isSpent()).toBe(false);
  });

  test("counts by its bytes if they are more than its lines", () => {
    const { budget, time, wait } = budgetOf(endlessTurns);
    budget.unsolicited("stderr", 11 * lineCost);
    wait();
    expect(time.left()).toEqual([100]);
  });

  test("within its rate is read for ever", () => {
    const { budget, time, floods } = budgetOf(endlessTurns);
    for (let second = 0; second < 100; second += 1) {
      budget.unsolicited("notifications", 1, 9);
      expect(budget.isSpent()).toBe(false);
      time.advance(1000);
    }
    expect(floods).toEqual([]);
  });

  /** Sends so many lines whenever it may, until so much time has passed. */
  function sends(opened: ReturnType<typeof budgetOf>, lines: number, milliseconds: number): void {
    const end = opened.time.now() + milliseconds;
    while (opened.time.now() < end && opened.floods.length === 0) {
      opened.budget.unsolicited("blank lines on stdout", lines, lines);
      if (opened.budget.isSpent()) opened.wait();
      opened.time.advance(Math.min(opened.time.left()[0] ?? 0, end - opened.time.now()));
    }
  }

  test("that stays over its rate is a flood, named after most of it", () => {
    const opened = budgetOf(endlessTurns);
    opened.budget.unsolicited("stderr", 5 * lineCost);
    sends(opened, 3, 5000);
    expect(opened.floods.map(({ code, message }) => [code, message])).toEqual([
      ["flooding", "the server sent too many blank lines on stdout: more than 10 per second for 1 s"],
    ]);
  });

  test("on stderr that stays over its rate is a flood in kilobytes", async () => {
    const { budget, time, floods, resumed, wait } = budgetOf(endlessTurns);
    budget.unsolicited("notifications", 1, 9);
    budget.unsolicited("stderr", 11 * lineCost);
    wait();
    time.advance(1000);
    budget.unsolicited("stderr", 10 * lineCost);
    wait();
    expect(floods.map(({ message }) => message)).toEqual([
      "the server wrote too much to stderr: more than 10 kB per second for 1 s",
    ]);
    await turn();
    expect(resumed).toHaveLength(2);
    // The limit does not apply any more.
    budget.unsolicited("stderr", 1000 * lineCost);
    expect(budget.isSpent()).toBe(false);
    expect(time.left()).toEqual([]);
  });

  test("that is hardly over its rate waits for a moment, and exactly at it for none", () => {
    const { budget, time, wait } = budgetOf(endlessTurns);
    budget.unsolicited("notifications", 1, 10);
    expect(budget.isSpent()).toBe(false);
    budget.unsolicited("stderr", 1);
    expect(budget.isSpent()).toBe(true);
    wait();
    wait();
    expect(time.left()).toEqual([20]);
  });

  test("over its rate for a moment, now and then, is no flood", () => {
    const opened = budgetOf(endlessTurns);
    for (let round = 0; round < 20; round += 1) {
      sends(opened, 3, 600);
      opened.time.advance(2000);
    }
    expect(opened.floods).toEqual([]);
  });

  test("after the end waits for nothing", async () => {
    const { budget, time, floods, resumed, wait } = budgetOf(endlessTurns);
    budget.unsolicited("notifications", 1, 1000);
    wait();
    budget.stop();
    expect(time.left()).toEqual([]);
    await turn();
    expect(resumed).toHaveLength(1);
    budget.unsolicited("notifications", 1, 1000);
    expect(budget.isSpent()).toBe(false);
    expect(floods).toEqual([]);
  });
});
