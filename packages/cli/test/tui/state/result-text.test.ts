import { expect, test } from "vitest";
import { resultText } from "../../../src/tui/state/result-text.ts";

const fenced = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``;

test("blocks are told one by one, and bytes by their kind and number", () => {
  const blocks = [
    { type: "text", text: "Look:" },
    { type: "image", mimeType: "image/png\nx", data: "AAAA" },
    { type: "resource", resource: { uri: "a://b", mimeType: "application/zip", blob: "AAAA" } },
    { type: "resource", resource: { uri: "a://c", text: "words" } },
    { type: "resource_link", uri: "a://d", name: "D" },
    { type: "new", x: 1 },
  ];
  expect(resultText(fenced(blocks))).toBe(
    [
      "Look:",
      "[image image/png x, 3 B]",
      "[resource a://b application/zip, 3 B]",
      "[resource a://c]\nwords",
      "[link to a://d: D]",
      '{\n  "type": "new",\n  "x": 1\n}',
    ].join("\n"),
  );
});

test.each([
  ["plain text", "hello"],
  ["other data", fenced([{ type: "user", name: "x" }])],
  ["an object", fenced({ type: "image" })],
  ["what is no JSON", "```json\n[{\n```"],
  ["a list that is not all blocks", fenced([{ type: "image", data: "AAAA" }, 1])],
])("%s stays as it is", (_what, display) => expect(resultText(display)).toBe(display));
