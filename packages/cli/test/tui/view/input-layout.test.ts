import { expect, test } from "vitest";
import { type InputLayout, layoutInput } from "../../../src/tui/view/text-input.tsx";

/** Rows with what is under the cursor in brackets. */
function shown({ rows }: InputLayout): readonly string[] {
  return rows.map(({ before, under, after }) => `${before}${under === undefined ? "" : `[${under}]`}${after}`);
}

test.each<[string, string, number, number, readonly string[]]>([
  ["nothing", "", 0, 10, ["[ ]"]],
  ["the cursor behind the text", "abc", 3, 10, ["abc[ ]"]],
  ["the cursor in the text", "abc", 1, 10, ["a[b]c"]],
  ["a row that is full", "abcd", 4, 4, ["abcd", "[ ]"]],
  ["rows are broken where they end", "abcdef", 5, 4, ["abcd", "e[f]"]],
  ["a wide character is never cut in two", "abc日", 4, 4, ["abc", "日[ ]"]],
  ["lines", "ab\n\ncd", 3, 10, ["ab", "[ ]", "cd"]],
  ["the cursor at the end of a line", "ab\ncd", 2, 10, ["ab[ ]", "cd"]],
  ["what a terminal would obey is a picture", "a\u001b[2Jb", 6, 10, ["a␛[2Jb[ ]"]],
  ["a character that is wider than the screen", "日日", 0, 1, ["[日]", "日"]],
  ["a tab", "\tx", 2, 10, ["    x[ ]"]],
])("%s", (_, text, cursor, width, rows) => {
  expect(shown(layoutInput({ text, cursor }, width, 10))).toEqual(rows);
});

test("of many rows those around the cursor are seen, and how many are not is told", () => {
  const text = Array.from({ length: 20 }, (_, at) => String(at)).join("\n");
  const { above, below, ...rest } = layoutInput({ text, cursor: text.length }, 10, 3);
  expect([shown({ above, below, ...rest }), above, below]).toEqual([["17", "18", "19[ ]"], 17, 0]);
  const middle = layoutInput({ text, cursor: text.indexOf("5") }, 10, 3);
  expect([shown(middle), middle.above, middle.below]).toEqual([["3", "4", "[5]"], 3, 14]);
  const first = layoutInput({ text, cursor: 0 }, 10, 3);
  expect([shown(first), first.above, first.below]).toEqual([["[0]", "1", "2"], 0, 17]);
});
