import { expect, test } from "vitest";
import { toModelText, withoutColours } from "../../src/text/model-text.ts";

test.each([
  ["plain\n\ttext ~", "plain\n\ttext ~"],
  ["\u001b[1;31mred\u001b[0m and \u001b[38:5:1mmore\u001b[m", "red and more"],
  ["a\u0007b\u0000c\u007fd\u009be", "abcde"],
  ["a\r\nb\rc", "a\r\nb\rc"],
  ["a\u200bb\u202ec\u2800d", "abcd"],
  ["a\ud800b\udc00c", "a\ufffdb\ufffdc"],
  ["größe 漢字 🙂", "größe 漢字 🙂"],
])("the model reads %j as %j", (text, expected) => {
  expect(toModelText(text)).toBe(expected);
});

test("only colours are removed from a program's output", () => {
  expect(withoutColours("\u001b[32mok\u001b[0m \u001b[2J \u001b]0;title\u0007")).toBe(
    "ok \u001b[2J \u001b]0;title\u0007",
  );
});
