import { describe, expect, test } from "vitest";
import { getStringifiedResultForDisplay, transformMcpContentToParts } from "../../src/gemini/content.ts";
import type { Part } from "../../src/normalise/model-types.ts";

const fenced = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``;
const answer = (content: unknown): Part => ({ functionResponse: { name: "t", response: { content } } });
const png = { type: "image", mimeType: "image/png", data: Buffer.alloc(1234).toString("base64") };

describe("a person is shown", () => {
  test.each<[string, Part[], string]>([
    ["an empty list for no parts", [], fenced([])],
    ["the texts of one part, joined", [answer([{ text: "a" }, { type: "text", text: "b\n" }])], "ab\n"],
    ["a bare part as JSON", [{ text: "a" }], fenced({ text: "a" })],
    ["nothing for empty content", [answer([])], ""],
    [
      "several parts as JSON, each as short as it goes",
      [answer([{ text: "a" }]), { text: "b" }, answer([1])],
      fenced(["a", { text: "b" }, [1]]),
    ],
    [
      "mixed content as JSON, bytes by type and size",
      [answer([{ type: "text", text: "a" }, png])],
      fenced([
        { type: "text", text: "a" },
        { ...png, data: "[image/png, 1.2 kB]" },
      ]),
    ],
    [
      "embedded bytes by type and size",
      [answer([{ type: "resource", resource: { uri: "a:b", blob: "QUJD" } }])],
      fenced([{ type: "resource", resource: { uri: "a:b", blob: "[application/octet-stream, 3 B]" } }]),
    ],
    [
      "bytes of the model's API by type and size",
      [{ inlineData: { mimeType: "image/png", data: "QUJD" } }],
      fenced({ inlineData: { mimeType: "image/png", data: "[image/png, 3 B]" } }),
    ],
    [
      "data that is no bytes as it is",
      [answer([{ type: "chart", data: "1,2" }])],
      fenced([{ type: "chart", data: "1,2" }]),
    ],
    [
      "broken bytes as broken",
      [answer([{ type: "image", mimeType: "image/png", data: "%" }])],
      fenced([{ type: "image", mimeType: "image/png", data: "[image/png, not valid Base64]" }]),
    ],
    [
      "all of an answer that has no content",
      [{ functionResponse: { name: "t", response: { output: 1 } } }],
      fenced({ name: "t", response: { output: 1 } }),
    ],
    [
      "keys named like prototypes",
      [answer([JSON.parse('{"__proto__": {"a": 1}}')])],
      '```json\n[\n  {\n    "__proto__": {\n      "a": 1\n    }\n  }\n]\n```',
    ],
  ])("%s", (_, parts, expected) => {
    expect(getStringifiedResultForDisplay(parts)).toBe(expected);
  });

  test("a note for what is nested without end", () => {
    const deep: unknown = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    expect(getStringifiedResultForDisplay([answer([deep])])).toBe(fenced("(nested too deeply to show)"));
  });
});

test.each([undefined, null, []])("the display of %j is a fenced empty list", (parts) => {
  expect(getStringifiedResultForDisplay(parts)).toBe(fenced([]));
});

test.each(["text", 1, {}, [null], ["text"]])("%j is no list of parts", (given) => {
  const parts = given as unknown as Part[];
  const wrong = { code: "usage", message: expect.stringContaining(" must be a list of parts, not a") };
  expect(() => getStringifiedResultForDisplay(parts)).toThrow(expect.objectContaining(wrong));
  expect(() => transformMcpContentToParts(parts)).toThrow(expect.objectContaining(wrong));
});
