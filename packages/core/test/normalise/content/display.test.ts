import type { Block } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { displayOf, getStringifiedResultForDisplay, plainDisplay } from "../../../src/normalise/content/display.ts";
import type { Part } from "../../../src/normalise/model-types.ts";

const fenced = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``;
const answer = (content: unknown): Part => ({ functionResponse: { name: "t", response: { content } } });
const png = { type: "image", mimeType: "image/png", data: Buffer.alloc(1234).toString("base64") };

describe("a person is shown", () => {
  test.each<[string, Part[], string]>([
    ["an empty list for no parts", [], fenced([])],
    ["the texts of one part, joined", [answer([{ text: "a" }, { type: "text", text: "b\n" }])], "ab\n"],
    ["a bare text", [{ text: "a" }], "a"],
    ["nothing for empty content", [answer([])], ""],
    [
      "several parts as JSON, each as short as it goes",
      [answer([{ text: "a" }]), { text: "b" }, answer([1])],
      fenced(["a", "b", [1]]),
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

describe("of a server's result a person is shown", () => {
  test.each<[string, readonly Block[], unknown, string]>([
    ["an empty list for nothing", [], undefined, fenced([])],
    ["structured content when there is nothing else", [], { a: 1 }, fenced({ a: 1 })],
    [
      "text without the structured content",
      [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      { a: 1 },
      "a\nb",
    ],
    [
      "bytes by their type and number, and what is not known by its name",
      [
        { type: "image", mimeType: "image/png", data: "QUJD" },
        { type: "unknown", raw: { type: "x" } },
      ],
      undefined,
      '[image image/png, 3 B]\n[content of the unknown type "x"]',
    ],
    [
      "a sound by its type and size, and an unknown block without a type",
      [
        { type: "audio", mimeType: "audio/wav", data: "QUJD" },
        { type: "unknown", raw: 5 },
      ],
      undefined,
      '[audio audio/wav, 3 B]\n[content of the unknown type ""]',
    ],
    [
      "a link by its title, or else its name",
      [
        { type: "resource_link", uri: "x://1", name: "one", title: "The One" },
        { type: "resource_link", uri: "x://2\n", name: "two" },
      ],
      undefined,
      "Resource Link: The One at x://1\nResource Link: two at x://2␊",
    ],
    [
      "an embedded resource by its text, or else its type and size",
      [
        { type: "resource", resource: { uri: "x://1", text: "words", blob: "QUJD" } },
        { type: "resource", resource: { uri: "x://2", mimeType: "image/png", blob: "QUJD" } },
        { type: "resource", resource: { uri: "x://3", blob: "QUJD" } },
        { type: "resource", resource: { uri: "x://4" } },
      ],
      undefined,
      'words\n[resource image/png, 3 B]\n[resource application/octet-stream, 3 B]\n[content of the unknown type "resource"]',
    ],
    [
      "the line break at the end only of the last block",
      [
        { type: "text", text: "a\n" },
        { type: "text", text: "b\r\n" },
        { type: "text", text: "c\n" },
      ],
      undefined,
      "a\nb\nc\n",
    ],
  ])("%s", (_, content, structuredContent, expected) => {
    expect(displayOf(content, structuredContent)).toBe(expected);
  });
});

test.each<[string, readonly Block[], unknown, string]>([
  ["blocks as text", [{ type: "text", text: "a" }], { b: 1 }, "a"],
  ["structured content as JSON, if there are no blocks", [], { b: 1 }, '{\n  "b": 1\n}'],
  ["nothing for nothing", [], undefined, ""],
])("a called tool prints %s", (_, content, structuredContent, expected) => {
  expect(plainDisplay(content, structuredContent)).toBe(expected);
});

test.each([null, undefined])("a result that is %s is shown as an empty list", (parts) => {
  expect(getStringifiedResultForDisplay(parts)).toBe(fenced([]));
});
