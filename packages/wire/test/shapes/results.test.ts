import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/session.ts";
import { normalisePromptResult, normaliseResourceResult, normaliseToolResult } from "../../src/shapes/results.ts";

const ok = { isError: false, notes: [] };

describe("a tool's result", () => {
  test("with every known kind of block keeps them all", () => {
    const content = [
      { type: "text", text: "a", annotations: { audience: ["user"] }, _meta: { x: 1 } },
      { type: "image", data: "QQ==", mimeType: "image/png" },
      { type: "audio", data: "QQ==", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///a", mimeType: "text/plain", text: "hi" } },
      { type: "resource", resource: { uri: "file:///b", blob: "QQ==", _meta: { y: 2 } } },
      { type: "resource_link", uri: "file:///c", name: "c", title: "C", description: "d", mimeType: "a/b", size: 7 },
    ];
    expect(normaliseToolResult({ content, _meta: { z: 3 } })).toEqual({
      ...ok,
      content: [
        { type: "text", text: "a", annotations: { audience: ["user"] }, meta: { x: 1 } },
        content[1],
        content[2],
        content[3],
        { type: "resource", resource: { uri: "file:///b", blob: "QQ==", meta: { y: 2 } } },
        content[5],
      ],
      meta: { z: 3 },
    });
  });

  test.each<[string, JsonObject, unknown[], string[]]>([
    ["null content", { content: null }, [], ["the content is null"]],
    ["no content", {}, [], ["content is missing"]],
    ["no content beside structured content", { structuredContent: 1 }, [], []],
    [
      "content that is a string",
      { content: "hi" },
      [{ type: "text", text: "hi" }],
      ["the content is not a list", "a content block is a string"],
    ],
    [
      "content that is one block",
      { content: { type: "text", text: "hi" } },
      [{ type: "text", text: "hi" }],
      ["the content is not a list"],
    ],
    ["strings for blocks", { content: ["a"] }, [{ type: "text", text: "a" }], ["a content block is a string"]],
    [
      "the result of the very first servers",
      { toolResult: { a: 1 } },
      [{ type: "text", text: '{"a":1}' }],
      ["the result has the member toolResult, which only the first protocol versions define"],
    ],
    [
      "an image without a type",
      { content: [{ type: "image", data: "QQ==" }] },
      [{ type: "image", data: "QQ==", mimeType: "application/octet-stream" }],
      [],
    ],
    [
      "a link without a name",
      { content: [{ type: "resource_link", uri: "a:b" }] },
      [{ type: "resource_link", uri: "a:b", name: "a:b" }],
      [],
    ],
  ])("with %s is understood", (_, raw, content, notes) => {
    expect(normaliseToolResult(raw)).toMatchObject({ content, notes, isError: false });
  });

  test.each([
    [{ type: "hologram", depth: 3 }, '"hologram"'],
    [{ type: "text", text: null }, '"text"'],
    [{ type: "text" }, '"text"'],
    [{ type: "image", data: 7 }, '"image"'],
    [{ type: "resource" }, '"resource"'],
    [{ type: "resource", resource: { text: "no uri" } }, '"resource"'],
    [{ type: "resource_link", name: "no uri" }, '"resource_link"'],
    [{ text: "no type" }, "undefined"],
    [{ type: "x".repeat(500) }, `"${"x".repeat(59)}`],
    [null, "undefined"],
    [7, "undefined"],
    [[], "undefined"],
  ])("with the block %j keeps it as unknown, and the others", (block, shown) => {
    expect(normaliseToolResult({ content: [block, { type: "text", text: "fine" }] })).toEqual({
      content: [
        { type: "unknown", raw: block },
        { type: "text", text: "fine" },
      ],
      isError: false,
      notes: [`a content block of type ${shown} is unknown or invalid`],
    });
  });

  test.each([[{ a: 1 }], [[1, 2]], ["text"], [7], [false], [null]])(
    "keeps structured content that is %j",
    (structuredContent) => {
      expect(normaliseToolResult({ content: [], structuredContent })).toEqual({
        ...ok,
        content: [],
        structuredContent,
      });
    },
  );

  test("without structured content has none, not an undefined one", () => {
    expect(Object.keys(normaliseToolResult({ content: [] }))).toEqual(["content", "isError", "notes"]);
  });

  test.each([
    [true, true, []],
    ["true", true, ["isError is not a boolean"]],
    [false, false, []],
    ["false", false, ["isError is not a boolean"]],
    [1, false, ["isError is not a boolean"]],
    [null, false, ["isError is not a boolean"]],
  ])("with isError %j says %j", (isError, expected, notes) => {
    expect(normaliseToolResult({ content: [], isError })).toEqual({ content: [], isError: expected, notes });
  });
});

test.each<[string, JsonObject, unknown[], string[]]>([
  [
    "its message",
    { error: { isError: true, message: "no disk" } },
    [{ type: "text", text: "no disk" }],
    ["the content is not a list", "a content block is a string"],
  ],
  [
    "its content",
    { error: { isError: "true", content: [{ type: "text", text: "a" }] } },
    [{ type: "text", text: "a" }],
    [],
  ],
  [
    "the content beside it",
    { error: { isError: true, message: "m" }, content: [{ type: "text", text: "a" }] },
    [{ type: "text", text: "a" }],
    [],
  ],
  ["nothing said", { error: { isError: true } }, [], ["content is missing"]],
])("an error that is nested, as in early servers, is one, with %s", (_, raw, content, notes) => {
  expect(normaliseToolResult(raw)).toEqual({
    content,
    isError: true,
    notes: ["isError is a member of error, not of the result", ...notes],
  });
});

test.each([[{ isError: false }], [{ isError: "false" }], [{ message: "m" }], ["true"], [null]])(
  "a member named error that is %j makes no error",
  (error) => {
    expect(normaliseToolResult({ content: [], error })).toEqual({ content: [], isError: false, notes: [] });
  },
);

test("annotations of a block are kept as they came, whatever is in them", () => {
  const annotations = { audience: "everybody", priority: "high", lastModified: 7 };
  const { content, notes } = normaliseToolResult({ content: [{ type: "text", text: "a", annotations }] });
  expect(content).toEqual([{ type: "text", text: "a", annotations }]);
  expect(notes).toEqual([]);
});

test("values nested without end are no reason to fail", () => {
  const deep: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
  expect(normaliseToolResult({ content: [{ type: deep }] }).content).toMatchObject([{ type: "unknown" }]);
  expect(normaliseToolResult({ toolResult: deep }).content).toMatchObject([{ type: "text" }]);
});

describe("a prompt", () => {
  test("has messages of one block each", () => {
    expect(
      normalisePromptResult({
        description: "d",
        messages: [
          { role: "user", content: { type: "text", text: "a" } },
          { role: "assistant", content: [{ type: "text", text: "b" }, { type: "odd" }] },
          { role: "user", content: "c" },
        ],
      }),
    ).toEqual({
      description: "d",
      messages: [
        { role: "user", content: { type: "text", text: "a" } },
        { role: "assistant", content: { type: "text", text: "b" } },
        { role: "assistant", content: { type: "unknown", raw: { type: "odd" } } },
        { role: "user", content: { type: "text", text: "c" } },
      ],
      notes: [
        'a content block of type "odd" is unknown or invalid',
        "the content is not a list",
        "a content block is a string",
      ],
    });
  });

  test.each<[string, JsonObject, unknown[], string[]]>([
    ["no messages", {}, [], ["messages is not a list"]],
    ["a message that is null", { messages: [null] }, [], ["a message is not an object"]],
    ["a message without content", { messages: [{ role: "user" }] }, [], ["content is missing"]],
    [
      "an unknown role",
      { messages: [{ role: "system", content: { type: "text", text: "a" } }] },
      [{ role: "user", content: { type: "text", text: "a" } }],
      ["a message has an unknown role; it is treated as the user's"],
    ],
  ])("with %s is understood", (_, raw, messages, notes) => {
    expect(normalisePromptResult(raw)).toEqual({ messages, notes });
  });
});

describe("a resource", () => {
  test("has contents of text or of bytes", () => {
    const contents = [
      { uri: "a:1", mimeType: "text/plain", text: "" },
      { uri: "a:2", blob: "QQ==" },
    ];
    expect(normaliseResourceResult({ contents }, "a:1")).toEqual({ contents, notes: [] });
  });

  test.each<[string, JsonObject, unknown[], string[]]>([
    ["no contents", {}, [], ["the contents are not a list"]],
    [
      "contents that are one object",
      { contents: { uri: "a:1", text: "x" } },
      [{ uri: "a:1", text: "x" }],
      ["the contents are not a list"],
    ],
    ["an entry without a uri", { contents: [{ text: "x" }] }, [{ uri: "a:0", text: "x" }], []],
    ["an entry that is no object", { contents: ["x"] }, [], ["contents have neither text nor blob"]],
    ["a uri that is a number", { contents: [{ uri: 7, text: "x" }] }, [], ["contents have neither text nor blob"]],
    ["an entry of nothing", { contents: [{ uri: "a:1" }] }, [{ uri: "a:1" }], ["contents have neither text nor blob"]],
  ])("with %s is understood", (_, raw, contents, notes) => {
    expect(normaliseResourceResult(raw, "a:0")).toEqual({ contents, notes });
  });
});
