import { describe, expect, test } from "vitest";
import { transformMcpContentToParts } from "../../src/gemini/content.ts";
import type { Part } from "../../src/normalise/model-types.ts";
import { inside } from "../support/untrusted-parts.ts";

describe("what a callable tool gave", () => {
  const response = (response: Record<string, unknown>, name = "t"): Part[] => [
    { functionResponse: { name, response } },
  ];
  const transform = (parts: Part[]): readonly Part[] => inside(transformMcpContentToParts(parts, { nonce: "n0" }));

  test.each<[string, Part[], Part[]]>([
    [
      "blocks",
      response({
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      }),
      [{ text: "a" }, { text: "b" }],
    ],
    ["parts for blocks", response({ content: [{ text: "a" }] }), [{ text: "a" }]],
    [
      "a part with bytes for a block",
      response({ content: [{ inlineData: { mimeType: "image/png", data: "QUJD" } }] }),
      [
        { text: "[Tool 't' provided the following image data with mime-type: image/png]" },
        { inlineData: { mimeType: "image/png", data: "QUJD" } },
      ],
    ],
    [
      "a link with a title and no name",
      response({ content: [{ type: "resource_link", uri: "a:b", title: "T" }] }),
      [{ text: "Resource Link: T at a:b" }],
    ],
    ["content that is a text", response({ content: "a" }), [{ text: "a" }]],
    ["structured content alone", response({ structuredContent: { a: 1 } }), [{ text: '{"a":1}' }]],
    ["an answer that is no result", response({ output: "a" }), [{ text: '{"output":"a"}' }]],
    ["bare text", [{ text: "a" }], [{ text: "a" }]],
    [
      "bare bytes",
      [{ inlineData: { mimeType: "application/pdf", data: "QUJD" } }],
      [
        { text: "[Tool 'unknown' provided the following embedded resource with mime-type: application/pdf]" },
        { inlineData: { mimeType: "application/pdf", data: "QUJD" } },
      ],
    ],
    [
      "an unknown block",
      response({ content: [{ type: "hologram" }] }),
      [{ text: "[Tool 't' provided content of an unknown kind, here as JSON]" }, { text: '{"type":"hologram"}' }],
    ],
    [
      "several answers",
      [...response({ content: [{ text: "a" }] }), ...response({ content: [{ text: "b" }] }, "u")],
      [{ text: "a" }, { text: "b" }],
    ],
  ])("%s", (_, parts, expected) => {
    expect(transform(parts)).toEqual(expected);
  });

  test.each([[[]], [response({ content: [] })]])("without content, says so: %j", (parts) => {
    expect(transformMcpContentToParts(parts)).toEqual([{ text: "[The tool returned no content.]" }]);
  });

  test("that it failed is said first", () => {
    expect(transformMcpContentToParts(response({ content: [], isError: "true" }))[0]).toEqual({
      text: "[The tool reported an error.]",
    });
  });
});
