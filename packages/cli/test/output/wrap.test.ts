import { PassThrough } from "node:stream";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import { columnsOf, fill } from "../../src/output/wrap.ts";

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
    expect(columnsOf({ stdout: Object.assign(new PassThrough(), stdout) })).toBe(columns);
  });
});
