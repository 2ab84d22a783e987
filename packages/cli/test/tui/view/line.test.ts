import { toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { scaled, seed } from "@fairlead/test-servers";
import xterm from "@xterm/headless";
import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { breakLine, clipLine, columns, type Line, lineColumns, span, wrapLine } from "../../../src/tui/view/line.ts";

const text = (line: Line): string => line.map((each) => each.text).join("");
const line = (...parts: readonly string[]): Line => parts.map((each) => span(toSafeLine(each)));
const anyText = fc.oneof(
  // `unit: "binary"` of fast-check would first build a table of a million characters.
  fc.string({ unit: fc.integer({ min: 0, max: 0x10_ffff }).map((code) => String.fromCodePoint(code)) }),
  fc.string({ unit: "grapheme" }),
  fc.string({
    unit: fc.constantFrom(
      "a",
      " ",
      "中",
      "🎉",
      "👩‍👩‍👧",
      "🇩🇪",
      "❤️",
      "👍🏽",
      "é",
      "e\u0301",
      "ก็",
      "किं",
      "ᄀ",
      "ᅡ",
      "│",
      "ﷺ",
      "⣿",
    ),
  }),
);

test("words stay whole where they can, and blanks at a break are left out", () => {
  expect(wrapLine(line("the quick ", "brown", " fox jumps"), 10).map(text)).toEqual([
    "the quick ",
    "brown fox ",
    "jumps",
  ]);
  expect(wrapLine(line("a verylongword b"), 6).map(text)).toEqual(["a very", "longwo", "rd b"].map((each) => each));
});

test("a word that changes its style within is one word", () => {
  expect(wrapLine(line("one two", "three"), 8).map(text)).toEqual(["one ", "twothree"]);
});

test("indentation is kept, and an empty line is a line", () => {
  expect(wrapLine(line("  a b"), 10).map(text)).toEqual(["  a b"]);
  expect(wrapLine([], 10)).toEqual([[]]);
});

test("wide characters take two columns, and none is cut in half", () => {
  expect(breakLine(line("中文字"), 5).map(text)).toEqual(["中文", "字"]);
  expect(text(clipLine(line("中文字"), 5))).toBe("中文…");
  expect(text(clipLine(line("abc"), 3))).toBe("abc");
  expect(text(clipLine(line("ab", "cd"), 3))).toBe("ab…");
});

describe("the pieces of a line", () => {
  const bold = (words: string): Line[number] => span(toSafeLine(words), { isBold: true });
  const dim = (words: string): Line[number] => span(toSafeLine(words), { isDim: true });
  const plain = (words: string): Line[number] => span(toSafeLine(words));

  test.each<[width: number, Line]>([
    [7, [bold("ab"), plain("cd"), dim("ef")]],
    [6, [bold("ab"), plain("cd"), dim("ef")]],
    [5, [bold("ab"), plain("cd"), dim(""), dim("…")]],
    [4, [bold("ab"), plain("c"), plain("…")]],
    [3, [bold("ab"), plain(""), plain("…")]],
    [2, [bold("a"), bold("…")]],
    [1, [bold(""), bold("…")]],
    [0, [bold(""), bold("")]],
  ])("clipped to %d columns keep their order and their styles", (width, expected) => {
    expect(clipLine([bold("ab"), plain("cd"), dim("ef")], width)).toStrictEqual(expected);
  });

  test.each<[Line, width: number, readonly Line[]]>([
    [[bold("ab"), dim("cde")], 4, [[bold("ab"), dim("cd")], [dim("e")]]],
    [[bold("abcd"), dim("ef")], 4, [[bold("abcd")], [dim("ef")]]],
    [[bold("a b"), dim("  c")], 4, [[bold("a b"), dim(" ")], [dim(" c")]]],
    [[bold("")], 4, [[]]],
    [[bold("a"), dim(""), plain("b")], 4, [[bold("a"), plain("b")]]],
    [[bold("abc")], 1, [[bold("ab")], [bold("c")]]],
    [[bold("中a中")], 3, [[bold("中a")], [bold("中")]]],
  ])("%j broken at %d columns", (given, width, expected) => {
    expect(breakLine(given, width)).toStrictEqual(expected);
  });

  test.each<[Line, width: number, readonly Line[]]>([
    [[bold("ab "), dim("cde")], 4, [[bold("ab"), bold(" ")], [dim("cde")]]],
    [[bold("abcd  e")], 5, [[bold("abcd")], [bold("e")]]],
    [[bold("abcd efgh")], 4, [[bold("abcd")], [bold("efgh")]]],
    [[bold("abcd efgh")], 5, [[bold("abcd"), bold(" ")], [bold("efgh")]]],
    [[bold("abcd efgh")], 9, [[bold("abcd"), bold(" "), bold("efgh")]]],
    [[bold("      a")], 4, [[bold("    ")], [bold("  "), bold("a")]]],
    [[bold("a"), dim("b "), plain(" c")], 4, [[bold("a"), dim("b"), dim(" "), plain(" ")], [plain("c")]]],
    [[bold("abcdef g")], 4, [[bold("abcd")], [bold("ef"), bold(" "), bold("g")]]],
    [[bold("a bcdefg")], 4, [[bold("a"), bold(" "), bold("bc")], [bold("defg")]]],
    [[bold("ab")], 1, [[bold("ab")]]],
  ])("%j wrapped at %d columns", (given, width, expected) => {
    expect(wrapLine(given, width)).toStrictEqual(expected);
  });
});

test.each([
  ["", 0],
  ["a~", 2],
  ["é", 1],
  ["e\u0301", 1],
  ["中a", 3],
  ["🎉", 2],
  ["─", 1],
])("%j takes %d columns", (given, count) => {
  expect(columns(given)).toBe(count);
  expect(lineColumns(line(given, "x", given))).toBe(2 * count + 1);
});

describe("whatever the text is", () => {
  const options = { seed: seed() };
  const widths = fc.integer({ min: 2, max: 40 });

  test("broken lines have all of it, and fit", () =>
    fc.assert(
      fc.property(anyText, widths, (given, width) => {
        const shown = toVisibleLine(given);
        const rows = breakLine([span(shown)], width);
        expect(rows.map(text).join("")).toBe(shown);
        for (const row of rows) expect(lineColumns(row)).toBeLessThanOrEqual(width);
      }),
      options,
    ));

  test("wrapped lines have all of it but blanks, and fit", () =>
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 4 }), widths, (given, width) => {
        const whole = line(...given);
        const rows = wrapLine(whole, width);
        expect(rows.map(text).join("").replaceAll(" ", "")).toBe(text(whole).replaceAll(" ", ""));
        for (const row of rows) expect(lineColumns(row)).toBeLessThanOrEqual(width);
      }),
      options,
    ));

  test("clipped lines fit", () =>
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 20 }), (given, width) => {
        expect(lineColumns(clipLine(line(given), width))).toBeLessThanOrEqual(width);
      }),
      options,
    ));

  test("Ink finds no more columns in it than we do", () =>
    fc.assert(
      fc.property(anyText, (given) => {
        const shown = toSafeLine(given);
        expect(stringWidth(shown)).toBeLessThanOrEqual(columns(shown));
      }),
      options,
    ));
});

/** Beyond this every script has its block, and within a block a character is about as wide as the next. */
const wellMixed = 0x3400;

test("no character is wider on a terminal, or to Ink, than we count it", async () => {
  const [end, seeded] = [0x3_0000, seed()];
  const all = Array.from({ length: end - 0x20 }, (_, at) => at + 0x20);
  const step = end / scaled(end, end / 40);
  const tried = all.filter((code) => code < wellMixed || (code + seeded) % Math.floor(step) === 0);
  const shown = tried
    .map((code) => toSafeLine(`a${String.fromCodePoint(code)}`))
    // One that may not be shown has become words about it.
    .filter((each) => Array.from(each).length === 2);
  const terminal = new xterm.Terminal({ cols: 6, rows: 5, scrollback: shown.length, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(shown.map((each) => `${each}#`).join("\r\n"), resolve));
  const { active } = terminal.buffer;
  const tooWide = shown.filter((each, row) => {
    const cells = Array.from({ length: 6 }, (_, at) => active.getLine(row)?.getCell(at)?.getChars());
    return cells.lastIndexOf("#") > columns(each);
  });
  terminal.dispose();
  expect(shown.length).toBeGreaterThan(tried.length / 2);
  expect(tooWide, `seed ${seeded}`).toEqual([]);
  expect(shown.filter((each) => stringWidth(each) > columns(each))).toEqual([]);
});
