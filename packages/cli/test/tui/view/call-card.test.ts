import { expect, test } from "vitest";
import type { CallCard } from "../../../src/tui/state/transcript.ts";
import { callCardLines } from "../../../src/tui/view/call-card-lines.ts";
import { lineColumns } from "../../../src/tui/view/line.ts";
import { card } from "../../support/tui/samples.ts";

const rows = (more: Partial<CallCard>, width = 60, now = 0): readonly string[] =>
  callCardLines(card(more), now, width).map((line) => line.map(({ text }) => text).join(""));

test("the sign of a call has the colour of its state", () => {
  const colours = (["asking", "running", "ok", "error", "denied", "cancelled", "queued"] as const).map(
    (status) => callCardLines(card({ status }), 0, 60)[0]?.[0]?.colour,
  );
  expect(colours).toEqual(["yellow", "cyan", "green", "red", "yellow", "yellow", undefined]);
});

test.each([
  ["requested", "○ github.create_issue title=Hello requested"],
  ["asking", "? github.create_issue title=Hello needs confirmation"],
  ["queued", "○ github.create_issue title=Hello queued"],
  ["running", "⠋ github.create_issue title=Hello running"],
  ["ok", "✓ github.create_issue title=Hello done"],
  ["error", "✗ github.create_issue title=Hello failed"],
  ["denied", "✗ github.create_issue title=Hello denied"],
  ["cancelled", "- github.create_issue title=Hello cancelled"],
] as const)("how a call stands (%s) is told in words", (status, row) => expect(rows({ status })).toEqual([row]));

test("time is told while it passes and when it is over, if there is any to speak of", () => {
  expect(rows({ startedAt: 1000 }, 60, 5200)).toEqual(["⠸ github.create_issue title=Hello running, 4 s"]);
  expect(rows({ status: "ok", durationMs: 125_000 })).toEqual(["✓ github.create_issue title=Hello done, 2 min 5 s"]);
  expect(rows({ status: "ok", durationMs: 900 })).toEqual(["✓ github.create_issue title=Hello done"]);
});

test.each<[Partial<CallCard>, now: number, words: string]>([
  [{ startedAt: 1000 }, 1999, "running"],
  [{ startedAt: 1000 }, 2000, "running, 1 s"],
  [{}, 90_000, "running"],
  [{ startedAt: 0 }, 59_999, "running, 59 s"],
  [{ startedAt: 0 }, 60_000, "running, 1 min 0 s"],
  [{ status: "ok", startedAt: 0 }, 90_000, "done"],
  [{ status: "error", startedAt: 0, durationMs: 1000 }, 90_000, "failed, 1 s"],
])("the time of %j at %d", (more, now, words) => {
  expect(rows({ args: {}, ...more }, 60, now)[0]).toMatch(new RegExp(`github\\.create_issue ${words}$`));
});

test("the name is bold, and the arguments and the status are dim", () => {
  const [head = []] = callCardLines(card({ status: "queued" }), 0, 60);
  expect(head).toEqual([
    { text: "○ " },
    { text: "github.create_issue", isBold: true },
    { text: " title=Hello", isDim: true },
    { text: " queued", isDim: true },
  ]);
});

test("a tool of Fairlead itself has no server", () => {
  const { server: _server, ...own } = card({ status: "queued", tool: "read_result", args: {} });
  expect(callCardLines(own, 0, 60).map((line) => line.map(({ text }) => text).join(""))).toEqual([
    "○ read_result queued",
  ]);
});

test.each<[args: CallCard["args"], words: string]>([
  [{ a: "x/y.z:1@b-c_d", b: "two words", c: "" }, 'a=x/y.z:1@b-c_d b="two words" c=""'],
  [{ a: [1], b: { c: 1 }, d: null, e: 1.5, f: true }, "a=[…] b={…} d=null e=1.5 f=true"],
])("the arguments %j are told as %s", (args, words) => {
  expect(rows({ status: "queued", tool: "t", args }, 90)).toEqual([`○ github.t ${words} queued`]);
});

test("arguments are left out where fewer than eight columns are left", () => {
  const head = (width: number): string | undefined =>
    rows({ status: "queued", tool: "t", args: { a: "123456789" } }, width)[0];
  expect([head(26), head(25)]).toEqual(["○ github.t a=1234… queued", "○ github.t queued"]);
});

test("a call without arguments is told without a gap", () =>
  expect(rows({ args: {} })).toEqual(["⠋ github.create_issue running"]));

test("progress is a bar with its message, or a step where there is no whole", () => {
  expect(rows({ progress: { progress: 3, total: 4, message: "copying" } })[1]).toBe(
    "  ███████████████░░░░░ 75% copying",
  );
  expect(rows({ progress: { progress: 3 } })[1]).toBe("  step 3");
  expect(rows({ progress: { progress: Number.NaN, total: -1 } })[1]).toBe("  step NaN");
  expect(rows({ progress: { progress: 1, total: 2 }, status: "ok" })).toHaveLength(1);
});

test("a result is folded to its beginning, and shown whole with its arguments when it is opened", () => {
  const display = Array.from({ length: 10 }, (_, at) => `line ${at}`).join("\n");
  expect(rows({ status: "ok", display })).toEqual([
    "✓ github.create_issue title=Hello done",
    "  line 0",
    "  line 1",
    "  line 2",
    "  … 7 more lines (Ctrl-O)",
  ]);
  expect(rows({ status: "ok", display: "a\nb", isOpen: true })).toEqual([
    "✓ github.create_issue done",
    "  {",
    '    "title": "Hello"',
    "  }",
    "  a",
    "  b",
  ]);
});

test.each<[display: string, width: number, folded: readonly string[]]>([
  ["a\nb\nc\n", 60, ["a", "b", "c"]],
  ["a\nb\nc\nd", 60, ["a", "b", "c", "… 1 more line (Ctrl-O)"]],
  [" \ta\tb", 60, ["     a    b"]],
  ["x".repeat(38), 40, ["x".repeat(38)]],
  ["x".repeat(39), 40, [`${"x".repeat(37)}…`, "… (Ctrl-O)"]],
  [`a\n${"x".repeat(99)}`, 40, ["a", `${"x".repeat(37)}…`, "… (Ctrl-O)"]],
  [`a\nb\n${"x".repeat(99)}`, 40, ["a", "b", `${"x".repeat(37)}…`, "… (Ctrl-O)"]],
  [`a\nb\nc\n${"x".repeat(99)}\ne`, 40, ["a", "b", "c", "… 2 more lines (Ctrl-O)"]],
  ["", 60, ["empty result"]],
  [" \n", 60, []],
])("the result %j, %d columns wide, is folded", (display, width, folded) => {
  expect(rows({ status: "ok", args: {}, display }, width).slice(1)).toEqual(folded.map((row) => `  ${row}`));
});

test("an open result is shown up to its 2000th row, and says if there is more", () => {
  const open = (count: number, files: readonly string[] = []): readonly string[] =>
    rows({ status: "ok", args: {}, isOpen: true, files, display: Array(count).fill("x").join("\n") }).slice(1);
  expect([open(2000).length, open(2001).length]).toEqual([2000, 2001]);
  expect(open(2001).at(-1)).toBe("  … and more");
  expect(open(2001, ["/f"]).slice(-2)).toEqual(["  … the rest does not fit here", "  saved in /f"]);
  expect(rows({ status: "ok", args: {}, isOpen: true, display: "x" })).toEqual(["✓ github.create_issue done", "  x"]);
});

test("an open result is shown up to its 400000th character", () => {
  const last = (count: number): string | undefined =>
    rows({ status: "ok", args: {}, isOpen: true, display: "x".repeat(count) }, 2002).at(-1);
  expect(last(400_000)).toBe(`  ${"x".repeat(2000)}`);
  expect(last(400_001)).toBe("  … and more");
});

test("Fairlead's notes and a progress message below a call are dim, and the result is not", () => {
  const below = (more: Partial<CallCard>): readonly string[] =>
    callCardLines(card({ args: {}, ...more }), 0, 60)
      .slice(1)
      .flat()
      .map(({ text, isDim }) => `${isDim === true ? "dim" : "plain"}: ${text}`);
  expect(below({ status: "ok", display: "" })).toEqual(["plain:   ", "dim: empty result"]);
  expect(below({ status: "ok", files: ["/f"] })).toEqual(["plain:   ", "dim: saved in /f"]);
  expect(below({ progress: { progress: 1, total: 2, message: "half" } })).toEqual([
    "plain:   ",
    "plain: ██████████░░░░░░░░░░ 50%",
    "dim:  half",
  ]);
  expect(below({ status: "ok", display: "a\nb\nc\nd" })).toEqual([
    ...["a", "b", "c"].flatMap((row) => ["plain:   ", `plain: ${row}`]),
    "plain:   ",
    "dim: … 1 more line (Ctrl-O)",
  ]);
});

test("only a call that succeeded with nothing at all has an empty result", () => {
  const media = [{ mimeType: "image/png", data: "AAAA" }];
  const below = (more: Partial<CallCard>): readonly string[] => rows({ args: {}, display: "", ...more }).slice(1);
  expect(below({ status: "ok" })).toEqual(["  empty result"]);
  expect(below({ status: "running" })).toEqual([]);
  expect(below({ status: "ok", media })).toEqual(["  [image image/png, 3 B]"]);
  expect(below({ status: "ok", media, display: "a cat" })).toEqual(["  a cat"]);
  expect(below({ status: "ok", files: ["/f"] })).toEqual(["  saved in /f"]);
});

test("an error is red, what to do is a command of the app, and another result stays", () => {
  const error = { code: "tool_error", message: "it failed", next: "fairlead mcp list" } as const;
  const lines = callCardLines(card({ status: "error", args: {}, error, display: "details" }), 0, 60).slice(1);
  expect(
    lines.map((line) =>
      line
        .map(({ text }) => text)
        .join("")
        .trim(),
    ),
  ).toEqual(["it failed", "/mcp list", "details"]);
  expect(lines.map((line) => [line.at(-1)?.colour, line.at(-1)?.isDim === true])).toEqual([
    ["red", false],
    [undefined, true],
    [undefined, false],
  ]);
});

test("what went wrong is told in words, once, with what to do", () => {
  const error = { code: "tool_error", message: "no such repository", next: "check the name" } as const;
  expect(rows({ status: "error", error, display: "no such repository" })).toEqual([
    "✗ github.create_issue title=Hello failed",
    "  no such repository",
    "  check the name",
  ]);
});

test("bytes are described, and where the whole was put is told", () => {
  const media = [{ mimeType: "image/png", data: Buffer.alloc(3000).toString("base64") }];
  expect(rows({ status: "ok", media, files: ["/tmp/result.png"] }).slice(1)).toEqual([
    "  [image image/png, 3.0 kB]",
    "  saved in /tmp/result.png",
  ]);
});

test("in twenty columns it is still told how a call stands", () => {
  expect(rows({ status: "ok", server: "a-server-with-a-long-name" }, 20)).toEqual(["✓ a-server-wit… done"]);
  expect(rows({ status: "denied" }, 20)).toEqual(["✗ github.cre… denied"]);
});

test("whatever it holds, it fits", () => {
  const long = "中".repeat(300);
  const progress = { progress: 1, total: 3, message: long };
  for (const width of [20, 41])
    for (const line of callCardLines(
      card({ server: long, args: { [long]: long }, display: long, files: [long], progress }),
      0,
      width,
    ))
      expect(lineColumns(line)).toBeLessThanOrEqual(width);
});
