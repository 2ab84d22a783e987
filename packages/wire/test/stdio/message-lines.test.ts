import { Buffer } from "node:buffer";
import { describe, expect, test } from "vitest";
import type { WireError } from "../../src/errors.ts";
import { createMessageLines } from "../../src/stdio/message-lines.ts";
import { countingBudget } from "../support/counting-budget.ts";

const noise = "lines on stdout that are not messages";

/** The lines of a server, with everything that is reported about them. */
function reader() {
  const messages: unknown[] = [];
  const diagnostics: string[] = [];
  const causes: WireError[] = [];
  const dropped: unknown[] = [];
  const budget = countingBudget();
  const lines = createMessageLines({
    events: {
      message(message, size) {
        messages.push([message, size]);
        return message["id"] === undefined ? "notifications" : undefined;
      },
      diagnostic: (text) => void diagnostics.push(text),
      dropped: (start, cause) => void dropped.push([start, cause?.message]),
    },
    budget,
    notAServer: (cause) => void causes.push(cause),
  });
  return { ...lines, messages, diagnostics, causes, dropped, counted: budget.counted };
}

describe("a line", () => {
  test.each<[string, readonly unknown[], readonly unknown[]]>([
    ['{"id":1}', [[{ id: 1 }, 8]], [["lines", 1]]],
    [
      '{"n":"ä"}',
      [[{ n: "ä" }, 10]],
      [
        ["lines", 1],
        ["unsolicited", "notifications", 10, 1],
      ],
    ],
    ['\ufeff{"id":1}', [[{ id: 1 }, 11]], [["lines", 1]]],
    [' \t{"id":1} ', [[{ id: 1 }, 11]], [["lines", 1]]],
    [
      '[{"id":1},{"n":2}]',
      [
        [{ id: 1 }, 9],
        [{ n: 2 }, 9],
      ],
      [
        ["lines", 1],
        ["lines", 2],
        ["unsolicited", "notifications", 9, 1],
      ],
    ],
    [
      "",
      [],
      [
        ["lines", 1],
        ["unsolicited", "blank lines on stdout", 1, 1],
      ],
    ],
    [
      "  ",
      [],
      [
        ["lines", 1],
        ["unsolicited", noise, 2, 1],
      ],
    ],
    [
      "log",
      [],
      [
        ["lines", 1],
        ["unsolicited", noise, 3, 1],
      ],
    ],
    [
      "{log",
      [],
      [
        ["lines", 1],
        ["unsolicited", noise, 4, 8],
      ],
    ],
    [
      "[]",
      [],
      [
        ["lines", 1],
        ["unsolicited", noise, 2, 1],
      ],
    ],
    [
      '[7,{"id":1}]',
      [[{ id: 1 }, 6]],
      [
        ["lines", 1],
        ["lines", 2],
        ["unsolicited", noise, 6, 1],
      ],
    ],
  ])("%j is delivered and counted", async (line, messages, counted) => {
    const short = reader();
    short.take(line);
    expect([short.messages, short.counted]).toEqual([messages, counted]);
    if (line === "") return;
    const long = reader();
    await long.takeInSlices([Buffer.from(line)], {});
    expect([long.messages, long.counted]).toEqual([messages, counted]);
  });

  test("that is noise is reported three times, with its beginning", () => {
    const { take, diagnostics } = reader();
    for (const line of ["one", `"${"x".repeat(300)}`, "[]", "four"]) take(line);
    expect(diagnostics).toEqual([
      'a line on stdout is not a message: "one"',
      `a line on stdout is not a message: ${JSON.stringify(`"${"x".repeat(199)}`)}`,
      'a line on stdout is not a message: "[]"; further lines are not reported',
    ]);
  });

  test("of white space is not reported", () => {
    const { take, diagnostics } = reader();
    take("   ");
    expect(diagnostics).toEqual([]);
  });

  test("after a thousand others that are no messages shows that the program is no server", () => {
    const { take, causes } = reader();
    take(`first ${"x".repeat(300)}`);
    for (let count = 0; count < 1000; count += 1) take("noise");
    expect(causes.map(({ code, evidence }) => [code, evidence])).toEqual([
      ["bad_message", { firstBytes: `first ${"x".repeat(194)}` }],
    ]);
  });
});

describe("a batch", () => {
  test("of a thousand messages is read whole, and of a longer one the first thousand", () => {
    const batchOf = (length: number): string => JSON.stringify(Array.from({ length }, (_, id) => ({ id })));
    const whole = reader();
    whole.take(batchOf(1000));
    expect([whole.messages.length, whole.diagnostics]).toEqual([1000, []]);
    const { take, messages, diagnostics, counted } = reader();
    take(batchOf(1001));
    expect(messages).toHaveLength(1000);
    expect(messages.at(-1)).toEqual([{ id: 999 }, batchOf(1001).length / 1001]);
    expect(diagnostics).toEqual(["a batch has more than 1000 messages; the others were dropped"]);
    expect(counted).toEqual([
      ["lines", 1],
      ["lines", 1000],
    ]);
  });
});

describe("a long line", () => {
  test("whose values take too much memory is dropped with its beginning", async () => {
    const { takeInSlices, dropped, counted, messages } = reader();
    const line = `{"id":1,"list":[${"{},".repeat(600_000)}{}]}`;
    await takeInSlices([Buffer.from(line)], { maxMemory: 1024 * 1024, nextTurn: async () => undefined });
    expect(messages).toEqual([]);
    expect(dropped).toEqual([[line.slice(0, 200), "the values of a message take more than 1 MB of memory"]]);
    expect(counted).toEqual([
      ["lines", 1],
      ["unsolicited", "notifications", line.length, 1],
    ]);
  });

  test("that is no longer needed is not delivered", async () => {
    const { takeInSlices, messages } = reader();
    const gone = new Error("closed");
    const line = Buffer.alloc(512 * 1024, "x");
    await expect(takeInSlices([line], { nextTurn: () => Promise.reject(gone) })).rejects.toBe(gone);
    expect(messages).toEqual([]);
  });
});
