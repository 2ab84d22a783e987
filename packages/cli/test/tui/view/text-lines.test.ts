import { expect, test } from "vitest";
import type { Line } from "../../../src/tui/view/line.ts";
import {
  decisionLines,
  indentedLines,
  jsonLines,
  outputLines,
  quoteColumns,
  quoted,
  readingLines,
  toDecisionText,
} from "../../../src/tui/view/text-lines.ts";

const texts = (lines: readonly Line[]): readonly string[] =>
  lines.map((line) => line.map((each) => each.text).join(""));

const rows = (text: string, width: number): readonly string[] =>
  indentedLines(text, width).map((line) => line.map((each) => each.text).join(""));

test.each<[string, string, number, readonly string[]]>([
  ["what fits stays as it is, blanks and all", "a   b\n  c", 10, ["a   b", "  c"]],
  ["what goes on begins where its row began", "  one two three", 9, ["  one two", "  three"]],
  ["an indent leaves room for the words", `${" ".repeat(30)}one`, 10, ["     one"]],
  ["a word that is too long is broken", "  abcdefgh", 6, ["  abcd", "  efgh"]],
])("%s", (_, text, width, lines) => {
  expect(rows(text, width)).toEqual(lines);
});

test("text is wrapped between words, and output keeps all its blanks", () => {
  const text = "one two\n\tthree\tfour\n\nfive";
  expect(texts(readingLines(text, 6))).toEqual(["one ", "two", "    ", "three", "four", "", "five"]);
  expect(texts(outputLines(text, 6))).toEqual(["one ", "two", "    ", "three ", "   ", "four", "", "five"]);
});

test("every piece of a text has the style that is asked for", () => {
  const style = { isDim: true, colour: "red" } as const;
  const pieces = [[{ text: "ab", ...style }], [{ text: "c", ...style }]];
  expect(outputLines("abc", 2, style)).toEqual(pieces);
  expect(readingLines("ab c", 2, style)).toEqual(pieces);
  expect(decisionLines("abc", 2, style)).toEqual(pieces);
  expect(outputLines("abc", 5)).toStrictEqual([[{ text: "abc" }]]);
});

test("tabs in a command's output become blanks", () => {
  expect(rows("a\tb\tc", 20)).toEqual(["a    b    c"]);
});

test.each([
  [`a${" ".repeat(24)}b`, `a${" ".repeat(24)}b`],
  [`a${" ".repeat(25)}b`, "a ⟨×25⟩b"],
  [`a${" ".repeat(30)}b${" ".repeat(26)}c`, "a ⟨×30⟩b ⟨×26⟩c"],
  ["a\u200bb", "a⟨U+200B⟩b"],
])("in a text to decide about, the user reads %j as %j", (row, text) => {
  expect(toDecisionText(row)).toBe(text);
});

test.each<[value: unknown, rows: readonly string[]]>([
  ["a\nb", ['"a\\n', 'b"']],
  ["a\\nb", ['"a\\\\nb"']],
  ["a\tb\n\nc", ['"a\\tb\\n', "\\n", 'c"']],
  [{ a: [1] }, ["{", '  "a": [', "    1", "  ]", "}"]],
])("JSON of %j begins a new row after each line break", (value, expected) => {
  expect(texts(jsonLines(value, 20))).toEqual(expected);
});

test("a quoted line has a dim bar of two columns", () => {
  const [line = []] = readingLines("a", 5);
  expect(quoted([line, []])).toEqual([[{ text: "▏ ", isDim: true }, { text: "a" }], [{ text: "▏ ", isDim: true }]]);
  expect(quoteColumns).toBe(2);
});
