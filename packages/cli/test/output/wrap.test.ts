import { safe, toSafeLine, toSafeText } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import { columnsOf, fill, joinParagraphs, wrapMessage } from "../../src/output/wrap.ts";

function filled(columns: number, ...pieces: readonly string[]): readonly string[] {
  return fill(pieces.map(toSafeLine), { columns, indent: safe`  `, hanging: safe`    ` });
}

describe("text is broken into lines", () => {
  test.each<[what: string, lines: readonly string[], expected: readonly string[]]>([
    ["nothing", filled(12), ["  "]],
    ["what fits stays together", filled(12, "a b c", "d e"), ["  a b c d e"]],
    ["to the last column", filled(11, "a b c", "d e"), ["  a b c d e"]],
    ["between pieces if it does not fit", filled(10, "a b c", "d e"), ["  a b c", "    d e"]],
    [
      "within a piece only if it must be",
      filled(10, "a", "b c d e f g", "h"),
      ["  a", "    b c d", "    e f g", "    h"],
    ],
    ["never within a word", filled(10, "abcdefghijkl", "m"), ["  abcdefghijkl", "    m"]],
    ["by what is seen of it", filled(10, "日本語", "a"), ["  日本語 a"]],
    ["and not by how it is stored", filled(9, "日本語", "a"), ["  日本語", "    a"]],
    ["nowhere without a width", filled(Number.POSITIVE_INFINITY, "a b", "c".repeat(200)), [`  a b ${"c".repeat(200)}`]],
  ])("%s", (_, lines, expected) => {
    expect(lines).toEqual(expected);
  });
});

describe("the width is that of the terminal", () => {
  test.each<[stdout: { readonly isTTY?: boolean; readonly columns?: number }, columns: number]>([
    [{}, Number.POSITIVE_INFINITY],
    [{ columns: 80 }, Number.POSITIVE_INFINITY],
    [{ isTTY: true, columns: 120 }, 120],
    [{ isTTY: true, columns: 10 }, 40],
    [{ isTTY: true, columns: 0 }, 80],
    [{ isTTY: true }, 80],
  ])("%j", (stdout, columns) => {
    expect(columnsOf(stdout)).toBe(columns);
  });
});

describe("a message on a terminal", () => {
  const wrapped = (text: string, columns: number): readonly string[] =>
    wrapMessage(toSafeText(text), columns).split("\n");

  test.each<[what: string, text: string, lines: readonly string[]]>([
    ["stays as it is if it fits", "a b c\n  d  e", ["a b c", "  d  e"]],
    [
      "is wrapped between words, with its indent",
      "  one two three four five six seven",
      ["  one two three four five six", "  seven"],
    ],
    [
      "goes on further right after a label",
      "note: one two three four five six",
      ["note: one two three four five", "  six"],
    ],
    ["keeps a long word whole", "now see https://example.com/a/path", ["now see", "https://example.com/a/path"]],
    [
      "keeps a command whole",
      "to allow it: fairlead policy allow a.b; or not",
      ["to allow it:", "fairlead policy allow a.b; or", "not"],
    ],
    ["keeps an undo whole", "undo: fairlead mcp remove a-server", ["undo:", "  fairlead mcp remove a-server"]],
    [
      "leaves a command longer than a line to the terminal",
      `undo: fairlead ${"x".repeat(30)}`,
      [`undo: fairlead ${"x".repeat(30)}`],
    ],
    [
      "wraps prose with the name of a command",
      "the programs of fairlead serve can ask you",
      ["the programs of fairlead serve", "can ask you"],
    ],
    [
      "keeps a number whole",
      "a server with tools of about 1 234 tokens",
      ["a server with tools of about", "1 234 tokens"],
    ],
    [
      "goes on in its last column",
      "code  4  the server's address was not found",
      ["code  4  the server's address", "         was not found"],
    ],
    [
      "keeps a row of a list of commands in its columns",
      "  fairlead lock  compare the servers with the file",
      ["  fairlead lock  compare the", "                 servers with", "                 the file"],
    ],
    ["keeps the lines of a difference", '  + "a much longer line here": true', ['  + "a much longer line here": true']],
  ])("%s", (_, text, lines) => {
    expect(wrapped(text, 30)).toEqual(lines);
  });

  test("has paragraphs that are joined before they are wrapped, and examples that are not", () => {
    const text = "\nOne sentence that\ngoes on.\n\nExamples:\n  fairlead a\n  fairlead b\nThe end\nof it";
    expect(joinParagraphs(text)).toBe(
      "\nOne sentence that goes on.\n\nExamples:\n  fairlead a\n  fairlead b\nThe end of it",
    );
  });

  test("is not wrapped without a terminal", () => {
    const text = safe`one two three four five six seven`;
    expect(wrapMessage(text, Number.POSITIVE_INFINITY)).toBe(text);
  });
});
