import { expect, test } from "vitest";
import { lineDifference } from "../../src/clients/connect-report.ts";

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

test("exactly 80 lines and exactly 400 columns are shown in full", () => {
  const eighty = numbered(1, 80);
  expect(lineDifference("", text(...eighty))).toEqual(eighty.map((line) => `+ ${line}`));
  expect(lineDifference("", text(...eighty, "more"))).toEqual([...eighty.map((line) => `+ ${line}`), "… 1 more lines"]);
  expect(lineDifference("", text("y".repeat(400)))).toEqual([`+ ${"y".repeat(400)}`]);
  expect(lineDifference("", text("y".repeat(401)))).toEqual([`+ ${"y".repeat(400)}… (401 characters)`]);
});

test("a line of 400 columns is shown whole, of a longer one only the part that differs", () => {
  const [short, long] = ["h".repeat(399), "h".repeat(400)];
  expect(lineDifference(`${short}a`, `${short}b`)).toEqual([`- ${short}a`, `+ ${short}b`]);
  const h = "h".repeat(60);
  expect(lineDifference(`${long}a`, `${long}b`)).toEqual([`- …${h}a`, `+ …${h}b`]);
  expect(lineDifference(`a${long}`, `b${long}`)).toEqual([`- a${h}…`, `+ b${h}…`]);
  const same = "s".repeat(60);
  const middle = "m".repeat(400);
  expect(lineDifference(`${same}a${middle}${same}`, `${same}b${same}`)).toEqual([
    `- ${same}a${middle.slice(0, 339)}… (521 characters)`,
    `+ ${same}b${same}`,
  ]);
});

test("only the values of secrets are hidden, and every one of them", () => {
  const secret = "sk-1234567890abcdef1234";
  expect(lineDifference("", `"API_KEY": "a1", 'token' = "b\\"2", "name": "c3", "${secret}", "plain"`)).toEqual([
    `+ "API_KEY": "(hidden)", 'token' = "(hidden)", "name": "c3", "(hidden)", "plain"`,
  ]);
});

test("lines at both ends and in the middle are compared in order", () => {
  expect(lineDifference(text("a", "b", "c", "d"), text("b", "d", "e"))).toEqual(["- a", "  b", "- c", "  d", "+ e"]);
  expect(lineDifference(text("a", "a"), text("a", "a", "a"))).toEqual(["  a", "  a", "+ a"]);
  expect(lineDifference(text("a", "b"), text("a", "b"))).toEqual(["  a", "  b"]);
  expect(lineDifference(text("x"), "")).toEqual(["- x"]);
  expect(lineDifference("", "")).toEqual([]);
  expect(lineDifference(text("\ta\tb"), text("\t\tc"))).toEqual(["-     a\tb", "+         c"]);
});
