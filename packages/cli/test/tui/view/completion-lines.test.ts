import { expect, test } from "vitest";
import { completionLines } from "../../../src/tui/app.tsx";
import type { CompletionItem, CompletionList } from "../../../src/tui/input/completion.ts";
import { columns, lineColumns } from "../../../src/tui/view/line.ts";

const listOf = (suggestions: readonly CompletionItem[], selected = 0): CompletionList => ({
  from: 0,
  to: 0,
  suggestions,
  selected,
  isChosen: false,
});
const rows = (completion: CompletionList, room = { width: 40, height: 8 }): readonly string[] =>
  completionLines(completion, room).map((line) => line.map(({ text }) => text).join(""));
const numbered = (count: number): readonly CompletionItem[] =>
  Array.from({ length: count }, (_, at) => ({ value: `item-${at}` }));

test("what is said of each stands in a column of its own, however wide the words before it are", () => {
  const list = listOf([{ value: "a", about: "one" }, { value: "日本語", about: "two" }, { value: "abcdefgh" }], 1);
  expect(rows(list)).toEqual(["  a         one", "› 日本語    two", "  abcdefgh  "]);
});

test("a label takes the place of the value, and only the first line is said of it", () => {
  expect(rows(listOf([{ value: "@n:x/", label: "@n:x/{day}", about: "a day\nof the year" }]))).toEqual([
    "› @n:x/{day}  a day",
  ]);
});

test("only the selected one is marked, in bold and with a sign", () => {
  const [first = [], second = []] = completionLines(listOf(numbered(2), 1), { width: 40, height: 8 });
  expect(first.filter(({ text, isBold }) => isBold && text.trim() !== "")).toEqual([]);
  expect(second.filter(({ text, isBold }) => isBold && text.trim() !== "").map(({ text }) => text)).toEqual([
    "› ",
    "item-1",
  ]);
});

test("the description of a suggestion and the number of suggestions are dim", () => {
  const list = listOf([{ value: "a", about: "one" }, { value: "b" }, { value: "c" }]);
  expect(completionLines(list, { width: 40, height: 2 })).toEqual([
    [{ text: "› ", isBold: true }, { text: "a", isBold: true }, { text: "  " }, { text: "one", isDim: true }],
    [{ text: "  1 of 3", isDim: true }],
  ]);
});

test("a long label leaves room for what is said of it", () => {
  const [row = ""] = rows(listOf([{ value: "x".repeat(200), about: "words" }]));
  expect(row).toBe(`› ${"x".repeat(19)}…  words`);
  const [wide = ""] = rows(listOf([{ value: "x".repeat(200), about: "words" }]), { width: 200, height: 8 });
  expect(wide).toBe(`› ${"x".repeat(39)}…  words`);
});

test.each([
  ["at the beginning", 0, ["› item-0  ", "  item-1  ", "  item-2  ", "  1 of 10"]],
  ["in the middle", 5, ["  item-4  ", "› item-5  ", "  item-6  ", "  6 of 10"]],
  ["at the end", 9, ["  item-7  ", "  item-8  ", "› item-9  ", "  10 of 10"]],
])("of more than fit, those around the selected one are seen, and how many there are: %s", (_, selected, expected) => {
  expect(rows(listOf(numbered(10), selected), { width: 40, height: 4 })).toEqual(expected);
});

test("where all fit, nothing is counted; where one row is left, it is the selected one", () => {
  expect(rows(listOf(numbered(4)), { width: 40, height: 4 })).toHaveLength(4);
  expect(rows(listOf(numbered(4), 2), { width: 40, height: 1 })).toEqual(["› item-2  "]);
});

test.each([6, 20, 33])("nothing is wider than %i columns, and nothing in it moves a terminal", (width) => {
  const hostile = "\u001b[2J\u202e日本".repeat(20);
  const lines = completionLines(
    listOf([
      { value: hostile, about: hostile },
      { value: "a", about: hostile },
    ]),
    {
      width,
      height: 4,
    },
  );
  expect(lines).toHaveLength(2);
  expect(lines.map(lineColumns).filter((each) => each > width)).toEqual([]);
  expect(lines.flat().some(({ text }) => /\p{Cc}|\u202e/u.test(text) || columns(text) > width)).toBe(false);
});
