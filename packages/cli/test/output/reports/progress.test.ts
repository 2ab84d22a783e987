import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { Progress } from "@fairlead/core/host";
import { toSafeLine } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import {
  createLineLog,
  createProgressLine,
  cut,
  fractionDone,
  spinnerSign,
} from "../../../src/output/reports/progress.ts";

interface Place {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly quiet?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** What is written while these come in; the call has lasted 3.5 seconds. */
function written(updates: readonly Progress[], { quiet = false, env = {}, ...terminal }: Place = {}): string {
  const stderr = Object.assign(new PassThrough(), terminal);
  const times = [0];
  const line = createProgressLine(toSafeLine("s.t"), { stderr, env }, { quiet, now: () => times.shift() ?? 3500 });
  for (const progress of updates) line.update(progress);
  line.clear();
  return String(stderr.read() ?? "");
}

const erase = "\r\u001b[2K";

describe("on a terminal: one line, and nothing of it is left", () => {
  test.each<[Progress, string]>([
    [{ progress: 0, total: 4 }, "s.t ░░░░░░░░░░░░░░░░░░░░ 0%  3 s"],
    [{ progress: 1, total: 3, message: "one" }, "s.t ██████░░░░░░░░░░░░░░ 33% one  3 s"],
    [{ progress: 4, total: 4 }, "s.t ████████████████████ 100%  3 s"],
    [{ progress: 99, total: 4 }, "s.t ████████████████████ 100%  3 s"],
    // Without a whole that makes sense it is steps.
    [{ progress: 7 }, "⠴ s.t 7  3 s"],
    [{ progress: 0.30000000000000004, message: "files" }, "⠴ s.t 0.3 files  3 s"],
    [{ progress: 1, total: 0 }, "⠴ s.t 1/0  3 s"],
    [{ progress: -1, total: 5 }, "⠴ s.t -1/5  3 s"],
    [{ progress: 1, total: -5 }, "⠴ s.t 1/-5  3 s"],
    [{ progress: 1, message: "\u001b[2J\nhidden\u202e" }, "⠴ s.t 1 ␛[2J␊hidden  3 s"],
  ])("%j", (progress, line) => {
    expect(written([progress], { isTTY: true, columns: 80 })).toBe(`${erase}${line}${erase}`);
  });

  test("however many come at once, one is drawn", () => {
    const many = Array.from({ length: 10_000 }, (_, at) => ({ progress: at, total: 10_000 }));
    expect(written(many, { isTTY: true }).split(erase)).toHaveLength(3);
  });

  test("a message without end is cut to the width", () => {
    const shown = written([{ progress: 1, total: 2, message: "x".repeat(1_000_000) }], { isTTY: true, columns: 40 });
    expect(shown.replaceAll(erase, "")).toBe("s.t ██████████░░░░░░░░░░ 50% xxxxxxxxx…");
  });

  test("a call that has told nothing and takes no time leaves no trace", () => {
    expect(written([], { isTTY: true })).toBe("");
  });
});

describe("on a terminal, while a call runs", () => {
  const open = (now: () => number) => {
    const stderr = Object.assign(new PassThrough(), { isTTY: true });
    return { stderr, line: createProgressLine(toSafeLine("s.t"), { stderr, env: {} }, { quiet: false, now }) };
  };

  test("the line appears after one second, even if the server tells nothing", async () => {
    const times = [500, 1499, 1499, 1500];
    const { stderr, line } = open(() => times.shift() ?? 9000);
    try {
      expect(String((await once(stderr, "data"))[0])).toBe(`${erase}⠋ s.t  1 s`);
    } finally {
      line.clear();
    }
    expect(times).toEqual([]);
  });

  test("a question stands alone: the line is taken away first and nothing is drawn below it", async () => {
    const times = [0];
    const { stderr, line } = open(() => times.shift() ?? 3500);
    line.update({ progress: 1 });
    expect(String(stderr.read())).toBe(`${erase}⠴ s.t 1  3 s`);
    const answer = await line.hideDuring(async () => {
      expect(String(stderr.read())).toBe(erase);
      return "yes";
    });
    expect(answer).toBe("yes");
    line.clear();
    expect(stderr.read()).toBeNull();
  });

  test("what comes in during a question is not drawn, not even after another question that failed", async () => {
    const { stderr, line } = open(() => 0);
    await line.hideDuring(async () => {
      await expect(line.hideDuring(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
      line.update({ progress: 1 });
    });
    line.clear();
    expect(stderr.read()).toBeNull();
  });
});

test.each([false, true])("a question is asked at once where no line is redrawn (quiet: %s)", async (quiet) => {
  const stderr = new PassThrough();
  const line = createProgressLine(toSafeLine("s.t"), { stderr, env: {} }, { quiet });
  expect(await line.hideDuring(async () => 7)).toBe(7);
  expect(stderr.read()).toBeNull();
});

test.each([
  [{ progress: 1, total: 4 }, 0.25],
  [{ progress: 0, total: 4 }, 0],
  [{ progress: 5, total: 4 }, 1],
  [{ progress: 1 }, undefined],
  [{ progress: 1, total: 0 }, undefined],
  [{ progress: Number.NaN, total: 4 }, undefined],
  [{ progress: 1, total: Number.NaN }, undefined],
])("of %j, the part %s is done", (progress, part) => {
  expect(fractionDone(progress)).toBe(part);
});

test("the spinner turns once in ten steps", () => {
  const signs = Array.from({ length: 11 }, (_, at) => spinnerSign(at * 120 + 119, 120));
  expect(signs.join("")).toBe("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏⠋");
});

describe("elsewhere: a line each time", () => {
  const updates = [
    { progress: 1, total: 2, message: "one" },
    { progress: 1, total: 2, message: "one" },
    { progress: 2 },
  ];

  test.each<[string, Place]>([
    ["a file", {}],
    ["a dumb terminal", { isTTY: true, env: { TERM: "dumb" } }],
  ])("%s", (_name, place) => {
    expect(written(updates, place)).toBe("s.t 1/2 one\ns.t 2\n");
  });

  test("a server that reports without end fills no log", () => {
    const many = Array.from({ length: 10_000 }, (_, at) => ({ progress: at }));
    expect(written(many).trimEnd().split("\n")).toHaveLength(100);
  });

  test("after a hundred lines, there is one each second", () => {
    const stderr = new PassThrough();
    let now = 0;
    const line = createLineLog(toSafeLine("s.t"), stderr, () => now);
    for (let at = 1; at <= 100; at += 1) line.update({ progress: at });
    expect(String(stderr.read()).split("\n").at(-2)).toBe("s.t 100");
    for (const time of [999, 1000, 1999, 2000]) {
      now = time;
      line.update({ progress: time });
    }
    expect(String(stderr.read())).toBe("s.t 1000\ns.t 2000\n");
  });

  test("a message is cut at 500 characters", () => {
    expect(written([{ progress: 1, message: "x".repeat(501) }])).toBe(`s.t 1 ${"x".repeat(499)}…\n`);
    expect(written([{ progress: 1, message: "x".repeat(500) }])).toBe(`s.t 1 ${"x".repeat(500)}\n`);
  });
});

test.each([true, false])("with --quiet: nothing, on a terminal (%s) or elsewhere", (isTTY) => {
  expect(written([{ progress: 1 }], { isTTY, quiet: true })).toBe("");
});

test.each([
  ["abcdef", 7, "abcdef"],
  ["abcdef", 6, "abcd…"],
  ["日本語", 7, "日本語"],
  ["日本語", 6, "日本…"],
  ["日本語", 5, "日…"],
  ["x".repeat(100), 0, `${"x".repeat(78)}…`],
])("%s in %i columns is %s", (line, columns, shown) => {
  expect(cut(toSafeLine(line), columns)).toBe(shown);
});
