import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { expect, test } from "vitest";
import { bodyWidth, type Frame, frameExtent, frameLines } from "../../../src/tui/view/frame.ts";
import { type Line, span } from "../../../src/tui/view/line.ts";

const line = (text: string): Line => [span(toSafeLine(text))];
const frame = (body: number, keys: readonly string[] = ["y yes", "n no"]): Frame => ({
  title: line("Title"),
  body: Array.from({ length: body }, (_, at) => line(`row ${at}`)),
  keys: keys.map(line),
  colour: "yellow",
});
const textOf = (lines: readonly Line[]): readonly string[] =>
  lines.map((each) => each.map(({ text }) => text).join(""));
const rows = (given: Frame, height: number, scroll = 0, width = 40): readonly string[] =>
  textOf(frameLines(given, { width, height }, scroll));

test.each([
  [80, 78],
  [4, 2],
  [3, 2],
  [0, 2],
])("of %d columns, the body has %d", (width, columns) => {
  expect(bodyWidth({ width, height: 1 })).toBe(columns);
});

test.each([
  [3, 10, 8],
  [8, 10, 8],
  [9, 10, 7],
  [9, 4, 1],
  [9, 3, 1],
  [9, 1, 1],
  [1, 1, 1],
])("of %d rows in a dialog of %d rows, %d are visible", (body, height, page) => {
  expect(frameExtent(frame(body), { width: 40, height })).toEqual({ rows: body, page });
});

test("a row for more keys leaves less room for the body", () => {
  const keys = ["a long key", "another long key", "a third long key"];
  expect(frameExtent(frame(9, keys), { width: 60, height: 12 })).toEqual({ rows: 9, page: 10 });
  expect(frameExtent(frame(9, keys), { width: 40, height: 12 })).toEqual({ rows: 9, page: 9 });
  expect(frameExtent(frame(9, keys), { width: 30, height: 12 })).toEqual({ rows: 9, page: 7 });
});

test("a body that fits has no row about hidden rows", () => {
  expect(rows(frame(3), 5)).toEqual(["╭─ Title", "│ row 0", "│ row 1", "│ row 2", "╰─ y yes · n no"]);
  expect(rows(frame(3), 5, 2)).toEqual(["╭─ Title", "│ row 0", "│ row 1", "│ row 2", "╰─ y yes · n no"]);
});

test.each<[scroll: number, first: number, words: string]>([
  [-1, 0, "↓ 2 more rows (arrows, PgDn)"],
  [0, 0, "↓ 2 more rows (arrows, PgDn)"],
  [1, 1, "↑ 1, ↓ 1 more rows (arrows, PgDn)"],
  [2, 2, "the end; ↑ 2 rows"],
  [9, 2, "the end; ↑ 2 rows"],
])("scrolled to row %d, a body that is too long begins with row %d", (scroll, first, words) => {
  expect(rows(frame(4), 5, scroll)).toEqual([
    "╭─ Title",
    `│ row ${first}`,
    `│ row ${first + 1}`,
    `├─ ${words}`,
    "╰─ y yes · n no",
  ]);
});

test("the keys stay in one row as long as they fit", () => {
  expect(rows(frame(0, ["1234", "5678"]), 5, 0, 14)).toEqual(["╭─ Title", "╰─ 1234 · 5678"]);
  expect(rows(frame(0, ["1234", "5678"]), 5, 0, 13)).toEqual(["╭─ Title", "╰─ 1234", "   5678"]);
  expect(rows(frame(0, ["one two three", "x"]), 9, 0, 10)).toEqual(["╭─ Title", "╰─ one two", "   three", "   x"]);
});

test("the frame has its colour, and a row to copy has no bar", () => {
  const bare: Frame = {
    ...frame(3, ["yes", "no"]),
    body: [line("a"), { isBare: true, line: line("b") }, line("c"), line("d")],
  };
  const style = { colour: "yellow" };
  expect(frameLines(bare, { width: 20, height: 5 }, 0)).toEqual([
    [{ text: "╭─ ", ...style }, { text: "Title" }],
    [{ text: "│ ", ...style }, { text: "a" }],
    [{ text: "b" }],
    [{ text: "├─ ", ...style }, { text: "↓ 2 more rows", isBold: true }, { text: " (a" }, { text: "…" }],
    [{ text: "╰─ ", ...style }, { text: "yes" }, { text: " · ", isDim: true }, { text: "no" }],
  ]);
});

test("a title that is too long is cut", () => {
  expect(rows({ ...frame(0), title: [span(safe`A long title`)] }, 5, 0, 10)[0]).toBe("╭─ A long…");
});
