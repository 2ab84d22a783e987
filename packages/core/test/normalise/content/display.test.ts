import type { Block } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { displayOf, plainDisplay } from "../../../src/normalise/content/display.ts";

const fenced = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``;

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
