import { describe, expect, test } from "vitest";
import { type Line, lineColumns } from "../../../../src/tui/view/line.ts";
import { createHighlight } from "../../../../src/tui/view/markdown/highlight.ts";
import { Highlighter } from "../../../../src/tui/view/markdown/highlighter.ts";
import { hasCode, markdownLines } from "../../../../src/tui/view/markdown/markdown-lines.ts";

const text = (line: Line): string => line.map((each) => each.text).join("");
const rows = (markdown: string, width = 40): readonly string[] =>
  markdownLines(markdown, width).map((line) => text(line).trimEnd());

describe("markdown on a terminal", () => {
  test.each([
    ["headings and paragraphs", "# Title\n\nSome *words* in **bold**.", ["Title", "", "Some words in bold."]],
    ["lists in lists", "- a\n  - b\n- c", ["• a", "  • b", "• c"]],
    ["numbered lists that go on after an empty line", "1. a\n\n2. b", ["1. a", "2. b"]],
    ["tasks", "- [x] done\n- [ ] open", ["• [x] done", "• [ ] open"]],
    ["quotes", "> said\n> twice", ["┃ said twice"]],
    ["links, with where they go", "[here](https://evil.example)", ["here (https://evil.example)"]],
    ["links that are their own words", "https://example.org", ["https://example.org"]],
    [
      "pictures, which are not loaded",
      "![a cat](https://example.org/c.png)",
      ["[image: a cat]", "(https://example.org/c.png)"],
    ],
    ["code in a line", "use `a < b`", ["use a < b"]],
    ["code, as it is", "```js\nlet  a;\n\n  // *b*\n```\nend", ["┆ js", "┆ let  a;", "┆", "┆   // *b*", "", "end"]],
    ["code that is still being written", "text\n\n```py\nprint(", ["text", "", "┆ py", "┆ print("]],
    ["breaks that were meant", "a  \nb\nc", ["a", "b c"]],
    ["markup of pages, as text", "<b>x</b> &amp; y", ["<b>x</b> & y"]],
  ] as const)("%s", (_, markdown, expected) => expect(rows(markdown)).toEqual(expected));

  test("tables stand side by side where there is room, and row by row where there is none", () => {
    const table = "| name | size |\n| --- | --- |\n| alpha | 1 |\n| beta | two words |";
    expect(rows(table, 40)).toEqual(["name  │ size", "──────┼──────────", "alpha │ 1", "beta  │ two words"]);
    expect(rows(table, 16)).toEqual(["name  │ size", "──────┼─────────", "alpha │ 1", "beta  │ two", "      │ words"]);
    expect(rows(table, 12)).toEqual(["name: alpha", "size: 1", "", "name: beta", "size: two", "words", ""]);
    const three = "| a | b | c |\n| --- | --- | --- |\n| alpha one | beta two | gamma |";
    const whole = ["a         │ b        │ c", "──────────┼──────────┼──────", "alpha one │ beta two │ gamma"];
    expect(rows(three, 28)).toEqual(whole);
    const narrow = [
      "a        │ b        │ c",
      "─────────┼──────────┼──────",
      "alpha    │ beta two │ gamma",
      "one      │          │",
    ];
    expect(rows(three, 27)).toEqual(narrow);
  });
});

test("every beginning of an answer can be shown, and fits", () => {
  const whole =
    "# A\n\n- **b** `c`\n  1. [d](e)\n\n| f | g |\n|---|---|\n| h | i |\n\n```ts\nconst a = `x`;\n```\n\n> j ~k~ ***l***";
  const highlight = createHighlight();
  for (const width of [20, 33])
    for (let end = 0; end <= whole.length; end += 1) {
      const lines = markdownLines(whole.slice(0, end), width, highlight);
      expect(lines.filter((line) => lineColumns(line) > width)).toEqual([]);
    }
});

test("what would keep a lexer busy without end is shown as it is", () => {
  const texts = [
    ">".repeat(5000),
    "_a_".repeat(20_000),
    "[".repeat(20_000),
    Array.from({ length: 500 }, (_, at) => `${" ".repeat(at)}- a`).join("\n"),
  ];
  for (const each of texts) expect(markdownLines(each, 80).length).toBeGreaterThan(0);
});

test("an entity does not bring back what the gate keeps out", () => {
  expect(rows("&#27;[2J &#x202e;x")).toEqual(["␛[2J x"]);
});

describe("code in colours", () => {
  test("is asked for only where there is code of a language", () => {
    expect(["no code", "`inline`", "```\nplain\n```", "    indented"].map(hasCode)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(["```js\n", "text\n\n~~~ python\nx"].map(hasCode)).toEqual([true, true]);
  });

  test("is loaded when it is first wanted, and those who wait are told", async () => {
    const highlighter = new Highlighter();
    expect(highlighter.get()).toBeUndefined();
    await new Promise<void>((resolve) => {
      highlighter.subscribe(resolve);
      highlighter.want();
    });
    expect(highlighter.get()?.("const a = 1;", "js")).toBeDefined();
  });

  test("has the same characters as without", () => {
    const code = 'const a = "b"; // ünï\n\nif (a) {\n    return `x${a}`;\n}';
    const plain = markdownLines(`\`\`\`js\n${code}\n\`\`\``, 60);
    const coloured = markdownLines(`\`\`\`js\n${code}\n\`\`\``, 60, createHighlight());
    expect(coloured.map(text)).toEqual(plain.map(text));
    expect(coloured.flat().some(({ colour }) => colour !== undefined)).toBe(true);
    expect(plain.flat().some(({ colour }) => colour !== undefined)).toBe(false);
  });

  test.each<[language: string, code: string, words: string, style: object]>([
    ["js", "const a = 1; // c", "const", { colour: "magenta" }],
    ["JS", "const a = 1; // c", "const", { colour: "magenta" }],
    ["js", "const a = 1; // c", "1", { colour: "yellow" }],
    ["js", "const a = 1; // c", "// c", { isDim: true }],
    ["js", "const a = 'b';", "'b'", { colour: "green" }],
    ["js", "function f() {}", "f", { colour: "blue" }],
    ["diff", "- a", "- a", { colour: "red" }],
    ["diff", "+ a", "+ a", { colour: "green" }],
    // Code inside a coloured piece that has no colour of its own has the colour of that piece.
    ["js", "const a = `b${c}`;", "`b", { colour: "green" }],
    ["js", "const a = `b${c}`;", "${c}", { colour: "green" }],
    ["js", "a", "a", {}],
  ])("%s: %j", (language, code, words, style) => {
    const spans = createHighlight()(code, language)?.flat() ?? [];
    expect(spans.filter(({ text: each }) => each === words)).toEqual([{ text: words, ...style }]);
  });

  test("keeps empty lines, and has one line for each line of the code", () => {
    expect(createHighlight()("/* a\n\nb */\n", "js")).toEqual([
      [{ text: "/* a", isDim: true }],
      [],
      [{ text: "b */", isDim: true }],
      [],
    ]);
  });

  test("is left out for code of more than 50000 characters", () => {
    const highlight = createHighlight();
    expect(highlight(" ".repeat(50_000), "js")).toBeDefined();
    expect(highlight(" ".repeat(50_001), "js")).toBeUndefined();
  });

  test("is loaded once, and a listener that has unsubscribed is not called", async () => {
    const highlighter = new Highlighter();
    const told: string[] = [];
    const leave = highlighter.subscribe(() => told.push("left"));
    leave();
    await new Promise<void>((resolve) => {
      highlighter.subscribe(() => told.push("here"));
      highlighter.subscribe(resolve);
      highlighter.want();
      highlighter.want();
    });
    const loaded = highlighter.get();
    highlighter.want();
    await Promise.resolve();
    expect([told, highlighter.get()]).toEqual([["here"], loaded]);
  });

  test("is left out for an unknown language, and for very long code", () => {
    const highlight = createHighlight();
    expect(highlight("x", "klingon")).toBeUndefined();
    expect(highlight("x ".repeat(50_000), "js")).toBeUndefined();
  });
});
