import { expect, test } from "vitest";
import { lineDifference } from "../../src/clients/line-difference.ts";

const text = (...lines: readonly string[]): string => `${lines.join("\n")}\n`;
const numbered = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);

test("equal texts have no changed line; line ends and a byte order mark do not count", () => {
  expect(lineDifference("a\nb", "\uFEFFa\r\nb\r\n").filter((line) => !line.startsWith(" "))).toEqual([]);
});

test("a change is shown with two lines before and after it", () => {
  const before = text(...numbered(1, 9));
  expect(lineDifference(before, before.replace("line 5", "other"))).toEqual([
    "  line 3",
    "  line 4",
    "- line 5",
    "+ other",
    "  line 6",
    "  line 7",
  ]);
  expect(lineDifference("", text("\tnew"))).toEqual(["+     new"]);
  expect(lineDifference(text("a", "b"), text("a"))).toEqual(["  a", "- b"]);
});

test("unchanged lines between two changes are left out if they are far from both", () => {
  const before = text("first", ...numbered(1, 6), "last");
  expect(lineDifference(before, text("1st", ...numbered(1, 6), "end"))).toEqual([
    "- first",
    "+ 1st",
    "  line 1",
    "  line 2",
    "  …",
    "  line 5",
    "  line 6",
    "- last",
    "+ end",
  ]);
});

test("lines that were only moved apart are found again", () => {
  expect(lineDifference(text("a", "b", "c"), text("x", "b", "y", "c", "z"))).toEqual([
    "- a",
    "+ x",
    "  b",
    "+ y",
    "  c",
    "+ z",
  ]);
});

test("of one long line only the part that differs is shown", () => {
  const [head, rest] = ["h".repeat(300), "t".repeat(300)];
  const [h, t] = ["h".repeat(60), "t".repeat(60)];
  expect(lineDifference(`${head}old${rest}`, `${head}new${rest}`)).toEqual([`- …${h}old${t}…`, `+ …${h}new${t}…`]);
  // The beginning and the end that are the same do not overlap.
  const x = "x".repeat(60);
  expect(lineDifference("x".repeat(500), "x".repeat(510))).toEqual([`- …${x}`, `+ …${x}${"x".repeat(10)}`]);
});

test("at most 80 lines are shown, and a long line is clipped", () => {
  const shown = lineDifference("", text(...numbered(1, 90)));
  expect([shown.length, shown.at(-1)]).toEqual([81, "… 10 more lines"]);
  expect(lineDifference("", text("y".repeat(500)))).toEqual([`+ ${"y".repeat(400)}… (500 characters)`]);
});

test("secrets in JSON and TOML are hidden", () => {
  const secret = "sk-1234567890abcdef1234";
  for (const line of [`"API_KEY": "${secret}"`, `token = "${secret}"`])
    expect(lineDifference("", line).join()).not.toContain(secret);
  expect(lineDifference("", '"command": "node"')).toEqual(['+ "command": "node"']);
});

test("very long files are not compared line by line", () => {
  const before = text("a", ...numbered(1, 1001), "b");
  const after = text("c", ...numbered(1, 1001), "d");
  expect(lineDifference(before, after).slice(0, 3)).toEqual(["- a", "- line 1", "- line 2"]);
});
