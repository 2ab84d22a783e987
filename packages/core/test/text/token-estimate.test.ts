import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { listTools } from "../../src/demo/tools.ts";
import { estimateTokens, exceedsTokens } from "../../src/text/token-estimate.ts";
import { generatedTools } from "../support/generated-tools.ts";

const declarations: readonly string[] = [
  ...(listTools({})["tools"] as readonly object[]).map((tool) => JSON.stringify(tool)),
  ...generatedTools(200, 20).map(({ name, description, inputSchema: parameters }) =>
    JSON.stringify({ name, description, parameters }),
  ),
];

test("the estimate is within 5 % of a tokenizer in total, and within 15 % for 19 of 20 tool definitions", () => {
  const counts = declarations.map((text) => ({ real: countTokens(text), estimate: estimateTokens(text) }));
  const sum = (key: "real" | "estimate"): number => counts.reduce((so, each) => so + each[key], 0);
  expect(Math.abs(sum("estimate") / sum("real") - 1)).toBeLessThan(0.05);
  const errors = counts.map(({ real, estimate }) => Math.abs(estimate / real - 1)).sort((one, other) => one - other);
  expect(errors[Math.floor(errors.length * 0.95)]).toBeLessThan(0.15);
});

test.each([
  ["Russian", "Привет, как дела сегодня? ".repeat(50)],
  ["Hindi", "नमस्ते दुनिया ".repeat(50)],
  ["Arabic", "مرحبا بالعالم ".repeat(50)],
  ["Chinese", "今天天气很好我们去公园。".repeat(50)],
  ["emoji", "🙂🚀🎉👩‍💻".repeat(50)],
  ["a log", Array.from({ length: 50 }, (_, at) => `2026-11-16T19:01:12.${100 + at}Z INFO took ${at} ms`).join("\n")],
])("a text in %s is estimated within a fifth", (_, text) => {
  expect(Math.abs(estimateTokens(text) / countTokens(text) - 1)).toBeLessThan(0.2);
});

test.each([
  ["", 0],
  ["a", 1],
  ["a".repeat(9), 1],
  ["a".repeat(10), 2],
  ["a".repeat(15), 2],
  ["a".repeat(16), 3],
  ["ABCdef", 1],
  ["ABC", 1],
  ["12", 1],
  ["123", 1],
  ["1234", 2],
  ["漢", 1],
  ["漢字漢字漢", 4],
  ["漢字漢字漢字", 5],
  ["🙂🙂", 4],
  ["д", 1],
  ["дддд", 2],
  ["д".repeat(7), 2],
  ["д".repeat(8), 3],
  ["{", 1],
  ["{{{", 1],
  ["{{{{", 2],
  ["{".repeat(7), 2],
  ["{".repeat(8), 3],
  [" ", 0],
  ["  ", 1],
  [" \n ", 1],
  ["a b", 2],
  ["a  b", 3],
  ["a\nb\nc", 5],
])("%j is estimated at %i tokens", (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});

test.each([
  [[], 0, false],
  [["a b c"], 5, false],
  [["one two three four"], 3, true],
  [["one two three four"], 4, false],
  [["one two", "three four"], 3, true],
  [["x".repeat(100)], 12, true],
  // Each of these characters is a token, so the text is within the limit only while the limit allows all of them.
  [["🙂🙂"], 4, false],
  [["🙂🙂"], 3, true],
  [["1 1 1", "1 1"], 5, false],
  [["1 1 1", "1 1"], 4, true],
  // One word of 8 characters for each token that is allowed, and one character more.
  [["x".repeat(9), "x".repeat(7)], 2, false],
  [["x".repeat(9), "x".repeat(8)], 2, true],
])("%j exceeds %i tokens: %s", (texts, most, expected) => {
  expect(exceedsTokens(texts, most)).toBe(expected);
});
