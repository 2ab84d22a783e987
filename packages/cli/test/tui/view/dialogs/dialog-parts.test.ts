import { safe } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import { emptyEditor, insert } from "../../../../src/tui/input/editor.ts";
import {
  addressRows,
  editorLines,
  key,
  labelled,
  nameSpan,
  section,
  speech,
  titleLine,
  told,
} from "../../../../src/tui/view/dialogs/dialog-parts.ts";
import { type Line, span } from "../../../../src/tui/view/line.ts";

const textOf = (line: Line): string => line.map(({ text }) => text).join("");

test("a title has a number only if there are more questions", () => {
  const words = [span(safe`words`)];
  expect(titleLine(words, { index: 1, total: 1 })).toEqual([{ text: "words" }]);
  expect(titleLine(words, { index: 1, total: 2 })).toEqual([{ text: "(1 of 2) " }, { text: "words" }]);
});

test("a name is bold, and its invisible characters are shown", () => {
  expect(nameSpan("a\u200bb")).toEqual({ text: "a⟨U+200B⟩b", isBold: true });
});

test("a key is bold, and its description is not", () => {
  expect(key(safe`y`, safe`yes`)).toEqual([{ text: "y", isBold: true }, { text: " yes" }]);
});

describe("a value with a label", () => {
  test("stands beside it from 40 columns on, and below it on a narrower screen", () => {
    expect(labelled(safe`site`, "x".repeat(35), 40)).toEqual([
      [{ text: "site     ", isDim: true }, { text: "x".repeat(31) }],
      [{ text: "         " }, { text: "xxxx" }],
    ]);
    expect(labelled(safe`site`, "x".repeat(40), 39)).toEqual([
      [{ text: "site", isDim: true }],
      [{ text: "  " }, { text: "x".repeat(37) }],
      [{ text: "  " }, { text: "xxx" }],
    ]);
  });

  test("is wrapped between its words, and a longer word is broken", () => {
    const words = `${"a".repeat(28)} ${"b".repeat(5)}`;
    expect(labelled(safe`why`, words, 40).map(textOf)).toEqual([`why      ${"a".repeat(28)} `, "         bbbbb"]);
    expect(labelled(safe`why`, "a".repeat(33), 40).map(textOf)).toEqual([`why      ${"a".repeat(31)}`, "         aa"]);
    expect(told(safe`why`, words, 40).map(textOf)).toEqual([`why      ${"a".repeat(28)} `, "         bbbbb"]);
    expect(told(safe`why`, "", 40)).toEqual([[{ text: "why      ", isDim: true }]]);
  });
});

test("a heading is bold, with the colour that is asked for, and the lines below it have a bar", () => {
  expect(section(safe`Head`, [[span(safe`a`)], []], 40)).toEqual([
    [{ text: "Head", isBold: true }],
    [{ text: "▏ ", isDim: true }, { text: "a" }],
    [{ text: "▏ ", isDim: true }],
  ]);
  expect(section(safe`Head`, [], 40, { colour: "red" })).toEqual([[{ text: "Head", isBold: true, colour: "red" }]]);
});

test("the text of a server is shown below its heading, and an empty one without the heading", () => {
  expect(speech(safe`Says:`, "123456789", 8).map(textOf)).toEqual(["Says:", "▏ 123456", "▏ 789"]);
  expect(speech(safe`Says:`, " \n ", 8)).toEqual([]);
});

test("an address of plain characters is underlined and can be copied, another one has a bar", () => {
  const room = { width: 12, body: 10 };
  expect(addressRows("https://a.example/", room)).toEqual([
    { isBare: true, line: [{ text: "https://a.ex", isUnderlined: true }] },
    { isBare: true, line: [{ text: "ample/", isUnderlined: true }] },
  ]);
  expect(addressRows("https://a b", room)).toEqual([
    [{ text: "▏ ", isDim: true }, { text: "https://" }],
    [{ text: "▏ ", isDim: true }, { text: "a b" }],
  ]);
  expect(addressRows("", room)).toEqual([[{ text: "▏ ", isDim: true }]]);
});

describe("a text field", () => {
  const editor = (text: string, cursor = text.length) => ({ ...insert(emptyEditor, text), cursor });
  /** Ten rows of three columns: `aaa`, `bbb` and so on. */
  const long = Array.from("abcdefghij", (letter) => letter.repeat(3)).join("");
  const rows = (text: string, cursor: number | undefined, isFocused = true): readonly string[] =>
    editorLines(editor(text, cursor), isFocused, 3).map(textOf);

  test("without the focus says if it is empty, and shows its first six rows", () => {
    expect(editorLines(emptyEditor, false, 10)).toEqual([[{ text: "(empty)", isDim: true }]]);
    expect(editorLines(editor("ab"), false, 10)).toEqual([[{ text: "ab" }]]);
    expect(rows(long, undefined, false)).toEqual(["aaa", "bbb", "ccc", "ddd", "eee", "fff"]);
    expect(rows(long.slice(0, 18), undefined, false)).toHaveLength(6);
  });

  test("with the focus shows the cursor, inverse and underlined", () => {
    const cursor = { isInverse: true, isUnderlined: true };
    expect(editorLines(emptyEditor, true, 10)).toEqual([[{ text: " ", ...cursor }]]);
    expect(editorLines(editor("abc", 1), true, 10)).toEqual([[{ text: "a" }, { text: "b", ...cursor }, { text: "c" }]]);
    expect(editorLines(editor("a🎉c", 1), true, 10)).toEqual([
      [{ text: "a" }, { text: "🎉", ...cursor }, { text: "c" }],
    ]);
    expect(editorLines(editor("ab", 2), true, 10)).toEqual([[{ text: "ab" }, { text: " ", ...cursor }]]);
  });

  test.each<[cursor: number, first: string, last: string]>([
    [0, "aaa", "fff"],
    [12, "aaa", "fff"],
    [14, "aaa", "fff"],
    [15, "bbb", "ggg"],
    [19, "ccc", "hhh"],
    [25, "eee", "jjj"],
    [29, "eee", "jjj"],
  ])("with the cursor at %d shows six rows, from %s to %s", (cursor, first, last) => {
    const shown = rows(long, cursor);
    expect([shown.length, shown[0], shown.at(-1)]).toEqual([6, first, last]);
  });
});
