import { expect, test } from "vitest";
import { indentedLines } from "../../../src/tui/view/text-lines.ts";

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
