import { safe } from "@fairlead/core/text/safe-text";
import { describe, expect, test } from "vitest";
import { type Line, type Span, span } from "../../../../src/tui/view/line.ts";
import { markdownLines } from "../../../../src/tui/view/markdown/markdown-lines.ts";

const text = (line: Line): string => line.map((each) => each.text).join("");
const rows = (markdown: string, width = 40): readonly string[] =>
  markdownLines(markdown, width).map((line) => text(line).trimEnd());
/** The text with this style in the first line. */
const styled = (markdown: string, style: keyof Span): string =>
  text((markdownLines(markdown, 40)[0] ?? []).filter((each) => each[style] !== undefined && each[style] !== false));

test.each([
  ["code with tabs and line ends of Windows", "```\n\ta\tb\r\nc\r\n```", ["┆     a    b", "┆ c"]],
  ["an empty code block", "```\n```\nend", ["┆", "", "end"]],
  ["code that is indented", "    let a;\n    let b;\n\nend", ["┆ let a;", "┆ let b;", "", "end"]],
  ["code in a list", "- a\n\n      let b;\n- c", ["• a", "", "  ┆ let b;", "• c"]],
  [
    "code with a fence in a list",
    "1. a\n\n    ```js\n    let b;\n    ```\n\nend",
    ["1. a", "", "   ┆ js", "   ┆ let b;", "", "end"],
  ],
  ["a fence that a longer one encloses", "````\n```\na\n```\n````\nend", ["┆ ```", "┆ a", "┆ ```", "", "end"]],
  ["a rule", "a\n\n---\n\nb", ["a", "", "─".repeat(40), "", "b"]],
  ["a block of a page, as text", "<div>\nx\n</div>\n\nend", ["<div>", "x", "</div>", "", "end"]],
  ["a definition, as text", "[a]: https://example.org", ["[a]: https://example.org"]],
  ["characters that are escaped", "\\*a\\* \\_b\\_", ["*a* _b_"]],
  ["text that is struck out", "a ~~b~~ c", ["a ~b~ c"]],
  ["an address for mail", "<me@example.org>", ["me@example.org"]],
  ["tasks with gaps between them", "- [x] done\n\n- [ ] open", ["• [x] done", "• [ ] open"]],
  ["a numbered list that begins later", "3. a\n4. b", ["3. a", "4. b"]],
  ["an empty item", "- a\n-\n- b", ["• a", "•", "• b"]],
  ["a paragraph in an item", "- a\n\n  b", ["• a", "", "  b"]],
  ["a quote in a quote", "> a\n>\n> > b", ["┃ a", "┃", "┃ ┃ b"]],
  ["named entities", "&lt;a&gt; &quot;b&quot; &copy;", ['<a> "b" &copy;']],
] as const)("%s", (_, markdown, expected) => {
  expect(rows(markdown)).toEqual(expected);
});

test.each([
  ["code", "```\nZ\n```"],
  ["a list", "- Z"],
  ["a quote", "> > Z"],
  ["a task", "- [x] Z"],
])("%s that is wider than the screen is broken, and nothing is lost", (_, markdown) => {
  const lines = markdownLines(markdown.replace("Z", "Z".repeat(90)), 40);
  expect(lines.map(text).join("").match(/Z/g)).toHaveLength(90);
  expect(lines.filter((line) => text(line).length > 40)).toEqual([]);
});

test("where ten columns are left, text is indented, and where fewer are left, it is not", () => {
  expect(rows("- a\n  - b", 14)).toEqual(["• a", "  • b"]);
  expect(rows("- a\n  - b", 13)).toEqual(["• a", "  b"]);
});

describe("styles", () => {
  test.each<[markdown: string, style: keyof Span, words: string]>([
    ["# one", "isBold", "one"],
    ["# one", "isUnderlined", "one"],
    ["## two", "isBold", "two"],
    ["## two", "isUnderlined", ""],
    ["a **b** c", "isBold", "b"],
    ["a *b* c", "isItalic", "b"],
    ["a ***b*** c", "isBold", "b"],
    ["a ***b*** c", "isItalic", "b"],
    ["a `b` c", "colour", "b"],
    ["[a](https://b.example)", "isUnderlined", "a"],
    ["[a](https://b.example)", "isDim", " (https://b.example)"],
    ["---", "isDim", "─".repeat(40)],
    ["> a", "isDim", "┃ "],
    ["- a", "isDim", "• "],
    ["```js\na\n```", "isDim", "┆ js"],
  ])("%j has %s: %j", (markdown, style, words) => {
    expect(styled(markdown, style)).toBe(words);
  });

  test("the colours of code are asked for with its language, and are broken like other code", () => {
    const asked: string[] = [];
    const highlight = (code: string, language: string): readonly Line[] => {
      asked.push(`${language}: ${code}`);
      return [[span(safe`0123456789abcdef`, { colour: "green" })]];
    };
    const lines = markdownLines("```js\na\tb\n```\n\n```\nc\n```\n\n- d\n\n      e", 12, highlight);
    expect(asked).toEqual(["js: a    b"]);
    expect(lines.slice(0, 3).map(text)).toEqual(["┆ js", "┆ 0123456789", "┆ abcdef"]);
  });
});

test("a long answer keeps its styles, because each paragraph is read by itself", () => {
  const paragraph = `**b** ${"x ".repeat(2500)}`.trim();
  const lines = markdownLines(`${paragraph}\n\n${paragraph}`, 80);
  expect(lines.flat().filter(({ text: words }) => words === "b")).toMatchObject([{ isBold: true }, { isBold: true }]);
  const [first] = markdownLines(`**b** ${"x ".repeat(5000)}`, 80);
  expect(text(first ?? [])).toMatch(/^\*\*b\*\* x/);
});

test.each([
  [60, 40],
  [40, 40],
  [20, 20],
])("on a screen of %d columns a rule has %d", (width, count) => {
  expect(rows("---", width)).toEqual(["─".repeat(count)]);
});

test("code in a line is cyan, and line breaks and tabs in a paragraph become blanks", () => {
  expect(markdownLines("`a`", 40)).toEqual([[{ text: "a", colour: "cyan" }]]);
  expect(rows("a\n  b \nc\td\te")).toEqual(["a b c    d    e"]);
});

test("a block of more than 8000 characters is shown as it is", () => {
  const block = (length: number): string => `**b** ${"x".repeat(length - 6)}`;
  expect(markdownLines(block(8000), 9000)[0]?.[0]).toEqual({ text: "b", isBold: true });
  expect(markdownLines(block(8001), 9000)[0]?.[0]).toEqual({ text: "**b**" });
});
