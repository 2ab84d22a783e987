import { toSafeLine } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import { type Line, span } from "../../../../src/tui/view/line.ts";
import { tableLines } from "../../../../src/tui/view/markdown/markdown-lines.ts";

const cell = (text: string): Line => [span(toSafeLine(text))];
const table = (...rows: readonly (readonly string[])[]): readonly (readonly Line[])[] =>
  rows.map((row) => row.map(cell));
const shown = (rows: readonly (readonly Line[])[], width: number): readonly string[] =>
  tableLines(rows, width).map((line) => line.map(({ text }) => text).join(""));

test("the head is bold, and the lines between the columns are dim", () => {
  expect(tableLines(table(["a", "b"], ["cc", "d"]), 20)).toEqual([
    [{ text: "a", isBold: true }, { text: " " }, { text: " │ ", isDim: true }, { text: "b", isBold: true }],
    [{ text: "───┼──", isDim: true }],
    [{ text: "cc" }, { text: "" }, { text: " │ ", isDim: true }, { text: "d" }],
  ]);
});

test("rows with fewer cells than the head are filled, and cells without a head are left out", () => {
  expect(shown(table(["a", "b"], ["c"], ["d", "e", "f"]), 20)).toEqual(["a │ b", "──┼──", "c │ ", "d │ e"]);
  expect(shown(table(["", ""], ["x", ""]), 20)).toEqual(["  │ ", "──┼──", "x │ "]);
});

describe("a table that is too wide", () => {
  const words = (count: number): string => "x".repeat(count);
  /** The widths of the columns, as the rule below the head shows them. */
  const widths = (wanted: readonly number[], width: number): readonly number[] | string => {
    const [, rule = ""] = shown(
      table(
        wanted.map(() => "h"),
        wanted.map(words),
      ),
      width,
    );
    const parts = rule.split("─┼─").map(({ length }) => length);
    return /^[─┼]+$/.test(rule) ? parts : "listed";
  };

  test.each<[wanted: readonly number[], width: number, widths: readonly number[] | string]>([
    [[10, 10], 23, [10, 10]],
    [[10, 10], 22, [9, 10]],
    [[10, 10], 21, [8, 10]],
    [[10, 10], 15, [6, 6]],
    [[10, 10], 14, "listed"],
    [[20, 8], 26, [15, 8]],
    [[20, 8], 19, [8, 8]],
    [[20, 8], 18, [7, 8]],
    [[8, 20], 18, [7, 8]],
    [[20, 3], 12, [6, 3]],
    [[20, 3], 11, "listed"],
    [[20, 12, 4], 30, [8, 12, 4]],
    [[20, 12, 4], 29, [7, 12, 4]],
    [[6, 6], 15, [6, 6]],
    [[6, 6], 14, "listed"],
    [[30], 30, [30]],
    [[30], 6, [6]],
    [[30], 5, "listed"],
  ])("with columns of %j in %d columns of the screen has columns of %j", (wanted, width, expected) => {
    expect(widths(wanted, width)).toEqual(expected);
  });

  test("is listed row by row, with the heads in bold and an empty row after each row", () => {
    expect(tableLines(table(["aaaaaaa", "b"], ["ccccccc", "d"]), 9)).toEqual([
      [{ text: "aaaaaaa", isBold: true }, { text: ":" }, { text: " " }],
      [{ text: "ccccccc" }],
      [{ text: "b", isBold: true }, { text: ":" }, { text: " " }, { text: "d" }],
      [],
    ]);
    expect(shown(table(["aaaaaaa"], ["b", "c"]), 5).slice(-3)).toEqual(["aa: b", ": c", ""]);
  });
});

test("a cell that is wrapped makes its row higher", () => {
  expect(shown(table(["a", "b"], ["one two three", "x"]), 15)).toEqual([
    "a           │ b",
    "────────────┼──",
    "one two     │ x",
    "three       │ ",
  ]);
});
