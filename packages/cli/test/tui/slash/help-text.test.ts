import { expect, test } from "vitest";
import { type HelpRow, helpText } from "../../../src/tui/slash/help-text.ts";

const rows: readonly HelpRow[] = [
  ["/a", "first"],
  ["/bcd [X]", "second"],
];

test.each([
  [60, "  /a        first\n  /bcd [X]  second"],
  [59, "  /a\n      first\n  /bcd [X]\n      second"],
])("on a screen with %j columns, the explanations are beside or below the names", (columns, text) => {
  expect(helpText(rows, columns)).toBe(text);
});

test("a name of up to 26 characters has its explanation beside it, and a longer one below", () => {
  const [longest, longer] = [`/${"x".repeat(25)}`, `/${"y".repeat(26)}`];
  const all: readonly HelpRow[] = [
    ["/a", "one"],
    [longest, "two"],
    [longer, "three"],
  ];
  expect(helpText(all, 80)).toBe(
    [`  /a${" ".repeat(26)}one`, `  ${longest}  two`, `  ${longer}`, "      three"].join("\n"),
  );
  expect(helpText([[longer, "three"]], 80)).toBe(`  ${longer}\n      three`);
  expect(helpText([], 80)).toBe("");
});

test("an explanation wraps at the last column, under its first word", () => {
  const words = `${"a".repeat(30)} ${"b".repeat(27)} ccc`;
  // Two spaces, the name, two spaces: 58 of 64 columns are left for the explanation.
  expect(helpText([["/x", words]], 64)).toBe([`  /x  ${"a".repeat(30)} ${"b".repeat(27)}`, "      ccc"].join("\n"));
  expect(helpText([["/x", words]], 63)).toBe([`  /x  ${"a".repeat(30)}`, `      ${"b".repeat(27)} ccc`].join("\n"));
  expect(helpText([["/x", words]], 20)).toBe(
    ["  /x", `      ${"a".repeat(30)}`, `      ${"b".repeat(27)}`, "      ccc"].join("\n"),
  );
});

test("a long name wraps after a bar, and its other lines are indented further", () => {
  const name = "/mcp [aaaaaaaaaaaaaaa|bbbbbbbbbbbbbbb|ccccccccccccccc]";
  expect(helpText([[name, "words"]], 44)).toBe(
    ["  /mcp [aaaaaaaaaaaaaaa|bbbbbbbbbbbbbbb|", "      ccccccccccccccc]", "      words"].join("\n"),
  );
  expect(helpText([[name, "words"]], 43)).toBe(
    ["  /mcp [aaaaaaaaaaaaaaa|", "      bbbbbbbbbbbbbbb|ccccccccccccccc]", "      words"].join("\n"),
  );
});
