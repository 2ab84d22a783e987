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
