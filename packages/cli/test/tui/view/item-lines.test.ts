import { describe, expect, test } from "vitest";
import { itemLines, type TextKind } from "../../../src/tui/view/item-lines.ts";

const person = (text: string, ...attachments: readonly string[]): TextKind => ({
  key: "1",
  kind: "person",
  text,
  attachments,
});
const output = (text: string, title = "/mcp"): TextKind => ({ key: "1", kind: "output", title, text });
const rows = (item: TextKind, width = 40): readonly string[] =>
  itemLines(item, width).map((line) => line.map(({ text }) => text).join(""));

describe("a message of the user", () => {
  test("is bold, has a sign in its first row only, and names its attachments", () => {
    expect(itemLines(person("one\ntwo", "a.txt", "b\u001b.txt"), 40)).toEqual([
      [
        { text: "› ", isDim: true },
        { text: "one", isBold: true },
      ],
      [
        { text: "  ", isDim: true },
        { text: "two", isBold: true },
      ],
      [
        { text: "  ", isDim: true },
        { text: "with a.txt", isDim: true },
      ],
      [
        { text: "  ", isDim: true },
        { text: "with b␛.txt", isDim: true },
      ],
    ]);
  });

  test("and a long name of an attachment are broken inside the screen", () => {
    expect(rows(person("x".repeat(12), "y".repeat(10)), 10)).toEqual([
      "› xxxxxxxx",
      "  xxxx",
      "  with yyy",
      "  yyyyyyy",
    ]);
  });

  const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}`).join("\n");

  test.each<[count: number, shown: number, words: readonly string[]]>([
    [20, 20, []],
    [21, 20, ["  … 1 more line"]],
    [22, 20, ["  … 2 more lines"]],
  ])("of %d lines is shown with %d", (count, shown, words) => {
    expect(rows(person(lines(count)))).toEqual([
      "› line 0",
      ...Array.from({ length: shown - 1 }, (_, at) => `  line ${at + 1}`),
      ...words,
    ]);
  });

  test("of more than 4000 characters is cut there", () => {
    expect(rows(person("x".repeat(4000)), 5002)).toEqual([`› ${"x".repeat(4000)}`]);
    const [first = "", ...rest] = rows(person("x".repeat(4001)), 5002);
    expect(first).toMatch(/^› x+…?$/);
    expect([first.length <= 4003, rest]).toEqual([true, ["  … and more"]]);
    expect(itemLines(person("x".repeat(4001)), 5002).at(-1)).toEqual([
      { text: "  ", isDim: true },
      { text: "… and more", isDim: true },
    ]);
    expect(rows(person(`${"x".repeat(4001)}\nb\nc`), 5002).at(-1)).toBe("  … 2 more lines");
  });
});

test("a thought is dim and italic, without the blank lines around it", () => {
  const style = { isDim: true, isItalic: true };
  expect(itemLines({ key: "1", kind: "thought", text: "\n a bc \n", isDone: true }, 6)).toEqual([
    [
      { text: "~ ", isDim: true },
      { text: "a", ...style },
      { text: " ", ...style },
      { text: "bc", ...style },
    ],
  ]);
  expect(rows({ key: "1", kind: "thought", text: "one two", isDone: true }, 6)).toEqual(["~ one ", "  two"]);
});

describe("a note", () => {
  test("begins with its tone in words, in the colour of the tone", () => {
    expect(itemLines({ key: "1", kind: "note", tone: "info", text: "x" }, 40)).toEqual([[{ text: "x" }]]);
    const [warning] = itemLines({ key: "1", kind: "note", tone: "warning", text: "x" }, 40);
    expect(warning?.map(({ text, colour }) => [text, colour])).toEqual([
      ["warning:", "yellow"],
      [" ", "yellow"],
      ["x", "yellow"],
    ]);
    const [error] = itemLines({ key: "1", kind: "note", tone: "error", text: "x" }, 40);
    expect(error?.map(({ text, colour }) => [text, colour])).toEqual([
      ["error:", "red"],
      [" ", "red"],
      ["x", "red"],
    ]);
  });

  test("has the colour only in its first row, and a dim row about what to type", () => {
    const note: TextKind = { key: "1", kind: "note", tone: "error", text: "one\ntwo", next: "fairlead mcp list" };
    const lines = itemLines(note, 40);
    expect(lines.map((line) => line.map(({ text }) => text).join(""))).toEqual(["error: one", "two", "  /mcp list"]);
    expect(lines.map((line) => line.map(({ colour, isDim }) => `${colour} ${isDim}`).at(-1))).toEqual([
      "red undefined",
      "undefined undefined",
      "undefined true",
    ]);
  });
});

describe("the output of a command", () => {
  test("has a bold title, and no blank lines at its end", () => {
    expect(itemLines(output("\n  a\n\n"), 40)).toEqual([
      [{ text: "/mcp", isBold: true }],
      [{ text: "" }],
      [{ text: "  " }, { text: "a" }],
    ]);
  });

  test("is shown up to its 2000th line", () => {
    const text = (count: number): string => Array(count).fill("x").join("\n");
    expect([rows(output(text(2000))).length, rows(output(text(2000))).at(-1)]).toEqual([2001, "x"]);
    expect(rows(output(text(2001))).slice(-2)).toEqual(["x", "… 1 more line"]);
    expect(rows(output(text(2003))).slice(-2)).toEqual(["x", "… 3 more lines"]);
  });
});
