import { expect, test } from "vitest";
import type { JsonObject } from "../../src/session.ts";
import { normalisePromptResult, normaliseResourceResult, normaliseToolResult } from "../../src/shapes/results.ts";

const unknown = (type: string): string => `a content block of type "${type}" is unknown or invalid`;

test.each<[string, JsonObject, readonly string[]]>([
  [
    "blocks",
    { content: [{ type: "a" }, "text", { type: "b" }] },
    [unknown("a"), "a content block is a string", unknown("b")],
  ],
  [
    "a nested error, its content and isError",
    { error: { isError: true, content: "no" }, isError: "yes" },
    [
      "isError is a member of error, not of the result",
      "the content is not a list",
      "a content block is a string",
      "isError is not a boolean",
    ],
  ],
  [
    "a nested error in the old form",
    { error: { isError: true }, toolResult: "old", isError: 1 },
    [
      "isError is a member of error, not of the result",
      "the result has the member toolResult, which only the first protocol versions define",
      "isError is not a boolean",
    ],
  ],
])("the notes about a tool's result are in the order of its mistakes: %s", (_, raw, notes) => {
  expect(normaliseToolResult(raw).notes).toEqual(notes);
});

test("a tool's result in the old form is a text, as it is or as JSON", () => {
  const textOf = (toolResult: unknown): unknown => normaliseToolResult({ toolResult }).content;
  expect(textOf("plain")).toEqual([{ type: "text", text: "plain" }]);
  expect(textOf({ a: [1] })).toEqual([{ type: "text", text: '{"a":[1]}' }]);
  expect(textOf(null)).toEqual([{ type: "text", text: "null" }]);
  const long = "x".repeat(10_000);
  expect(textOf([long])).toEqual([{ type: "text", text: `["${long}"]` }]);
});

test("a tool's result keeps _meta and structured content, each without the other", () => {
  expect(normaliseToolResult({ content: [], _meta: { a: 1 } })).toEqual({
    content: [],
    isError: false,
    meta: { a: 1 },
    notes: [],
  });
  expect(normaliseToolResult({ content: [], structuredContent: 0, _meta: "no" })).toEqual({
    content: [],
    structuredContent: 0,
    isError: false,
    notes: [],
  });
});

test.each<[JsonObject, JsonObject]>([
  [
    { type: "text", text: "a", _meta: { x: 1 } },
    { type: "text", text: "a", meta: { x: 1 } },
  ],
  [
    { type: "text", text: "a", annotations: { y: 1 } },
    { type: "text", text: "a", annotations: { y: 1 } },
  ],
  [
    { type: "text", text: "a", annotations: "no", _meta: 7 },
    { type: "text", text: "a" },
  ],
  [
    { type: "audio", data: "QQ==", mimeType: 7, annotations: { y: 1 }, _meta: { x: 1 } },
    { type: "audio", data: "QQ==", mimeType: "application/octet-stream", annotations: { y: 1 }, meta: { x: 1 } },
  ],
  [
    { type: "resource", resource: { uri: "a:b", text: "t", blob: "QQ==" }, _meta: { x: 1 } },
    { type: "resource", resource: { uri: "a:b", text: "t" }, meta: { x: 1 } },
  ],
  [
    { type: "resource", resource: { uri: "a:b", mimeType: 7 }, annotations: {} },
    { type: "resource", resource: { uri: "a:b" }, annotations: {} },
  ],
  [
    { type: "resource_link", uri: "a:b", name: 7, title: 7, description: "d", size: "7", _meta: { x: 1 } },
    { type: "resource_link", uri: "a:b", name: "a:b", description: "d", meta: { x: 1 } },
  ],
])("the block %j of a server keeps exactly its valid members", (raw, block) => {
  expect(normaliseToolResult({ content: [raw] })).toEqual({ content: [block], isError: false, notes: [] });
});

test("a text block with annotations and without a text is unknown", () => {
  const raw = { type: "text", text: 7, annotations: {} };
  expect(normaliseToolResult({ content: [raw] })).toEqual({
    content: [{ type: "unknown", raw }],
    isError: false,
    notes: [unknown("text")],
  });
});

test("the notes about a prompt are in the order of its mistakes", () => {
  const messages = [{ role: 7, content: [{ type: "a" }] }, null, { role: "assistant" }, { role: "x", content: "c" }];
  const role = "a message has an unknown role; it is treated as the user's";
  expect(normalisePromptResult({ description: 7, messages, _meta: { a: 1 } })).toEqual({
    messages: [
      { role: "user", content: { type: "unknown", raw: { type: "a" } } },
      { role: "user", content: { type: "text", text: "c" } },
    ],
    meta: { a: 1 },
    notes: [
      role,
      unknown("a"),
      "a message is not an object",
      "content is missing",
      role,
      "the content is not a list",
      "a content block is a string",
    ],
  });
});

test("the contents of a resource are in the server's order, with a note for each empty one", () => {
  const empty = "contents have neither text nor blob";
  const contents = [{ uri: "a:1", text: "x" }, 7, { blob: "QQ==", mimeType: "a/b", _meta: { y: 1 } }, { uri: "a:3" }];
  expect(normaliseResourceResult({ contents, _meta: { z: 1 } }, "a:0")).toEqual({
    contents: [
      { uri: "a:1", text: "x" },
      { uri: "a:0", blob: "QQ==", mimeType: "a/b", meta: { y: 1 } },
      { uri: "a:3" },
    ],
    meta: { z: 1 },
    notes: [empty, empty],
  });
  expect(normaliseResourceResult({ contents: {} }, "a:0")).toEqual({
    contents: [{ uri: "a:0" }],
    notes: ["the contents are not a list", empty],
  });
});
