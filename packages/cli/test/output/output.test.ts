import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import { costsText, serverCosts } from "../../src/commands/tools.ts";
import { count, spacedNumber, table } from "../../src/output/output.ts";
import { ageWords, shortPath, timeText } from "../../src/output/time-text.ts";
import { width } from "../../src/output/wrap.ts";
import { marked } from "../support/plain-style.ts";
import { writtenOutput } from "../support/written-output.ts";

describe("a command writes", () => {
  test("data to stdout and messages to stderr, with the command as it is typed here", () => {
    const { context, stdout, stderr } = writtenOutput();
    const { out } = context;
    out.print(safe`run fairlead tools`);
    out.say(safe`run fairlead tools`);
    out.warn(safe`or fairlead call x`);
    out.exactly(safe`not fairlead tools`);
    out.warnOnce(safe`once`);
    out.warnOnce(safe`once`);
    out.warnOnce(safe`twice`);
    out.undo("fairlead mcp remove a", "fairlead mcp remove b\u001b");
    expect(out.typed(safe`fairlead tools`)).toBe("npx --no -- fairlead tools");
    expect(stdout()).toBe("run fairlead tools\n");
    expect(stderr()).toBe(
      [
        "run npx --no -- fairlead tools",
        "or npx --no -- fairlead call x",
        "not fairlead tools",
        "once",
        "twice",
        "undo: npx --no -- fairlead mcp remove a && npx --no -- fairlead mcp remove b␛",
        "",
      ].join("\n"),
    );
  });

  test("only warnings and data with --quiet", () => {
    const { context, stdout, stderr } = writtenOutput({ quiet: true });
    const { out } = context;
    out.print(safe`data`);
    out.say(safe`said`);
    out.undo("fairlead mcp remove a");
    out.warn(safe`warned`);
    out.exactly(safe`exact`);
    expect({ stdout: stdout(), stderr: stderr() }).toEqual({ stdout: "data\n", stderr: "warned\nexact\n" });
  });

  test("one JSON document, and knows that it has", () => {
    const { context, stdout } = writtenOutput();
    expect(context.out.printedJson()).toBe(false);
    context.out.json({ a: "\u001b" });
    expect(context.out.printedJson()).toBe(true);
    expect(stdout()).toBe('{\n  "schemaVersion": 1,\n  "a": "\\u001b"\n}\n');
  });

  test("long data in pieces that keep every character whole", () => {
    const size = 1_048_576;
    for (const text of ["x".repeat(size), `${"x".repeat(size - 1)}😀${"y".repeat(size)}`]) {
      const { context, stdout } = writtenOutput();
      const chunks: string[] = [];
      const write = context.io.stdout.write.bind(context.io.stdout);
      Object.assign(context.io.stdout, { write: (chunk: string) => chunks.push(chunk) > 0 && write(chunk) });
      context.out.print(toSafeLine(text));
      expect(stdout() === `${text}\n`).toBe(true);
      expect(chunks.every((chunk) => !/[\ud800-\udbff]$/.test(chunk) && chunk.length <= size + 1)).toBe(true);
      expect(chunks).toHaveLength(text.length > size ? 3 : 1);
    }
  });
});

describe("colours", () => {
  test.each<[given: Parameters<typeof writtenOutput>[0], isColoured: boolean]>([
    [{}, false],
    [{ isTTY: true }, true],
    [{ isTTY: true, env: { TERM: "dumb" } }, false],
    [{ isTTY: true, env: { NO_COLOR: "1" } }, false],
    [{ isTTY: true, env: { NO_COLOR: "1", FORCE_COLOR: "1" } }, false],
    [{ isTTY: true, env: { NO_COLOR: "", FORCE_COLOR: "" } }, true],
    [{ isTTY: true, env: { FORCE_COLOR: "0" } }, false],
    [{ env: { FORCE_COLOR: "1" } }, true],
  ])("%j: %s", (given, isColoured) => {
    expect(writtenOutput(given).context.out.style.red(safe`x`)).toBe(isColoured ? "\u001b[31mx\u001b[39m" : "x");
  });

  test("each style has its own codes", () => {
    const { style } = writtenOutput({ isTTY: true }).context.out;
    const styled = (["bold", "dim", "red", "green", "yellow", "cyan"] as const).map((name) => style[name](safe`x`));
    expect(styled).toEqual([
      "\u001b[1mx\u001b[22m",
      "\u001b[2mx\u001b[22m",
      "\u001b[31mx\u001b[39m",
      "\u001b[32mx\u001b[39m",
      "\u001b[33mx\u001b[39m",
      "\u001b[36mx\u001b[39m",
    ]);
  });
});

test("cells are aligned by what is seen of them, and nothing stands behind the last", () => {
  const rows = [
    ["a", "日本", "x"],
    ["abc", "", ""],
    ["\u001b[1mab\u001b[22m", "é", "yyyy"],
    ["", "", ""],
  ] as unknown as Parameters<typeof table>[0];
  expect(table(rows)).toBe("a    日本  x\nabc\n\u001b[1mab\u001b[22m   é     yyyy\n");
  expect(table([])).toBe("");
});

test.each([
  ["", 0],
  ["abc~", 4],
  ["é", 1],
  ["日本", 4],
  ["😀", 2],
  ["한", 2],
  ["（", 2],
])("%j takes %i columns", (text, columns) => {
  expect(width(toSafeLine(text))).toBe(columns);
});

test("numbers are written for people", () => {
  expect([0, 1, 2].map((number) => count(number, "server"))).toEqual(["0 servers", "1 server", "2 servers"]);
  expect([0, 999, 1000, 1_234_567].map(spacedNumber)).toEqual(["0", "999", "1 000", "1 234 567"]);
});

test("the home folder is a tilde, a folder that only begins like it is not", () => {
  expect(["/home/me", "/home/me/a\u001b", "/home/me2/a", "/a"].map((path) => shortPath(path, "/home/me"))).toEqual([
    "~",
    "~/a␛",
    "/home/me2/a",
    "/a",
  ]);
});

test.each([
  [0, "less than a minute"],
  [59_999, "less than a minute"],
  [60_000, "1 minute"],
  [119 * 60_000 + 59_999, "119 minutes"],
  [120 * 60_000, "2 hours"],
])("an age of %i milliseconds is %s", (milliseconds, words) => {
  expect(ageWords(milliseconds)).toBe(words);
});

test("a time is written without fractions of a second, in UTC or here", () => {
  expect(timeText("2026-01-31T08:30:05.123Z", true)).toBe("2026-01-31T08:30:05Z");
  expect(timeText("no time", false)).toBe("no time");
  const here = new Date(2026, 0, 2, 3, 4, 5, 678);
  expect(timeText(here.toISOString(), false)).toBe("2026-01-02 03:04:05");
});

test("costs are sorted, with a bar for each tool and the sum of what a model is offered", () => {
  const tool = (server: string, serverToolName: string, tokens: number, offered = true) =>
    ({ server, serverToolName, tokens, offered }) as Parameters<typeof serverCosts>[0][number];
  const costs = serverCosts([
    tool("small", "c", 10),
    tool("big", "a\u001b", 100),
    tool("big", "b", 2000, false),
    tool("small", "d", 20),
  ]);
  expect(costs.map(({ server, tokens, tools }) => [server, tokens, ...tools.map((one) => one.tokens)])).toEqual([
    ["big", 2100, 2000, 100],
    ["small", 30, 20, 10],
  ]);
  expect(costsText(costs, marked)).toBe(
    [
      "<bold>big</>: about 2 100 tokens, 99 % of all",
      "    2 000  ####################  b (the model must search for it)",
      "      100  #                     a␛",
      "",
      "<bold>small</>: about 30 tokens, 1 % of all",
      "       20  #                     d",
      "       10  #                     c",
      "",
      "A model is offered 3 tools directly, about 130 tokens; all tools: about 2 130 tokens.",
    ].join("\n"),
  );
  expect(costsText([], marked)).toBe("A model is offered 0 tools directly, about 0 tokens; all tools: about 0 tokens.");
});
