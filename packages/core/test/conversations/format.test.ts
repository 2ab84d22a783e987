import { describe, expect, test } from "vitest";
import {
  createConversationId,
  isConversationId,
  parseHead,
  parseRecordedLine,
} from "../../src/conversations/format.ts";

const time = "2026-01-31T09:30:00.000Z";
const parsed = (line: object) => parseRecordedLine(JSON.stringify({ time, ...line }));

describe("the first line of a conversation", () => {
  const head = {
    v: 1,
    id: "20260131-093000-a1b2c3",
    time,
    workspace: "/w",
    model: { provider: "google", name: "gemini" },
  };

  test("is returned as it is, with members of later versions", () => {
    expect(parseHead(JSON.stringify(head))).toEqual(head);
    expect(parseHead(JSON.stringify({ ...head, more: 1 }))).toEqual({ ...head, more: 1 });
  });

  const noHead = "the first line is not the head of a conversation";
  const wrongVersion = (v: number) => `the file has format version ${v}, but this version of Fairlead reads version 1`;
  test.each([
    ["", noHead],
    ["[]", noHead],
    [{ ...head, v: "1" }, noHead],
    [{ ...head, v: 2 }, wrongVersion(2)],
    [{ ...head, v: 0 }, wrongVersion(0)],
    [{ ...head, id: 1 }, "the id of the conversation is invalid"],
    [{ ...head, id: "../20260131-093000-a1b2c3" }, "the id of the conversation is invalid"],
    [{ ...head, time: 1 }, "the first line is incomplete"],
    [{ ...head, workspace: undefined }, "the first line is incomplete"],
    [{ ...head, model: "gemini" }, "the first line is incomplete"],
    [{ ...head, model: { provider: "google" } }, "the first line is incomplete"],
    [{ ...head, model: { name: "gemini" } }, "the first line is incomplete"],
  ])("%j is refused: %s", (text, reason) => {
    expect(parseHead(typeof text === "string" ? text : JSON.stringify(text))).toBe(reason);
  });
});

test("an id is made of the time in UTC and six random characters", () => {
  const id = createConversationId(Date.UTC(2026, 0, 31, 9, 30, 5, 999));
  expect(id).toMatch(/^20260131-093005-[0-9a-f]{6}$/);
  expect(isConversationId(id)).toBe(true);
  expect([`${id}0`, `0${id}`, id.toUpperCase().replaceAll("-", "_")].map(isConversationId)).toEqual(
    Array(3).fill(false),
  );
});

const media = { mimeType: "image/png", data: "AAAA" };
const stored = { mimeType: "image/png", digest: "ab" };
const failure = { code: "usage", message: "no" };
const call = { type: "call", id: "1", name: "t", args: {}, status: "ok" };
const content = (...parts: unknown[]) => ({ type: "content", content: { role: "user", parts } });

/** A complete line of each type, with all its optional members. */
const complete: readonly Readonly<Record<string, unknown>>[] = [
  { type: "input", text: "" },
  { type: "response", index: 0, part: { text: "a" }, beside: [{ text: "b" }], server: "s" },
  { type: "rewind", to: 0 },
  { type: "compact", contents: [{ role: "model", parts: [{ text: "a" }] }] },
  { type: "result", id: "1", what: "w", server: "s" },
  { type: "model", provider: "p", name: "n" },
  { type: "names", tools: [{ server: "s", name: "t", as: "s_t" }], functions: { call_tool: "call" } },
  { type: "offered", from: 2, places: [{ server: "s", name: "t" }, { function: "call_tool" }] },
  { type: "tool", server: "s", serverToolName: "t", enabled: false },
  { type: "title", title: "a" },
  { type: "resumed", workspace: "/w" },
  { type: "text", text: "a" },
  { type: "thought", text: "a" },
  {
    ...call,
    display: "d",
    server: "s",
    serverToolName: "t",
    error: failure,
    media: [media, stored],
    files: ["a", "b"],
  },
  { type: "progress", id: "1", progress: 1, total: 2, message: "m" },
  { type: "quarantined", server: "s", serverToolName: "t", reason: "r" },
  { type: "waiting", servers: ["s"] },
  { type: "missing", servers: [{ server: "s", message: "m" }] },
  { type: "note", message: "m" },
  { type: "retry", attempt: 1, delayMs: 2, reason: "r" },
  { type: "usage", inputTokens: 1, outputTokens: 2 },
  { type: "done", reason: "stop", text: "", denied: 0, calls: 0 },
  { type: "error", error: failure },
  { type: "approval", approval: { server: "s", kind: "reads", fingerprint: "f" } },
];

/** Members that a line may lack. */
const optional = new Set("beside server functions display serverToolName error media files total message".split(" "));
const required: Readonly<Record<string, readonly string[]>> = {
  tool: ["server", "serverToolName"],
  quarantined: ["server", "serverToolName"],
  note: ["message"],
  error: ["error"],
};
const incomplete = (type: string) => ({ kind: "invalid", reason: `its "${type}" is incomplete` });

test.each(complete)("a complete line is read as it is: %j", (line) => {
  expect(parsed(line)).toEqual({ kind: "line", line: { time, ...line } });
});

test.each(
  complete.flatMap((line) =>
    Object.keys(line)
      .filter((name) => name !== "type")
      .map((name) => [String(line["type"]), name, line] as const),
  ),
)("in a line of type %s, the member %s is checked", (type, name, line) => {
  // No member of any line may be this value.
  expect(parsed({ ...line, [name]: [null] })).toEqual(incomplete(type));
  const { [name]: _, ...without } = line;
  const isOptional = optional.has(name) && !required[type]?.includes(name);
  expect(parsed(without)).toEqual(isOptional ? { kind: "line", line: { time, ...without } } : incomplete(type));
});

describe("what the model and the user said", () => {
  test.each([
    { text: "" },
    { text: "a", thoughtSignature: "s" },
    { inlineData: media },
    { inlineData: stored },
    { functionCall: { name: "f" } },
    { functionCall: { name: "f", id: "1", args: { a: 1 } } },
    { functionResponse: { name: "f", id: "1", response: {} } },
    { functionResponse: { name: "f", parts: [{ inlineData: media }, { inlineData: stored }] } },
  ])("may be %j", (part) => {
    expect(parsed(content({ text: "first" }, part))).toMatchObject({ kind: "line" });
  });

  test.each([
    "text",
    {},
    { thoughtSignature: "s" },
    { text: 1 },
    { text: "a", thoughtSignature: 1 },
    { text: "a", inlineData: "AAAA" },
    { inlineData: { data: "AAAA" } },
    { inlineData: { mimeType: "image/png" } },
    { text: "a", functionCall: "f" },
    { functionCall: { id: "1" } },
    { functionCall: { name: "f", id: 1 } },
    { functionCall: { name: "f", args: [] } },
    { text: "a", functionResponse: "f" },
    { functionResponse: { response: {} } },
    { functionResponse: { name: "f", response: "r" } },
    { functionResponse: { name: "f", parts: {} } },
    { functionResponse: { name: "f", parts: ["a"] } },
    { functionResponse: { name: "f", parts: [{ text: "a" }] } },
    { functionResponse: { name: "f", parts: [{ inlineData: media }, { inlineData: { data: "AAAA" } }] } },
  ])("may not be %j, also after a valid part", (part) => {
    expect(parsed(content(part))).toEqual(incomplete("content"));
    expect(parsed(content({ text: "first" }, part))).toEqual(incomplete("content"));
  });

  test("has the role of the user or of the model, and a list of parts", () => {
    for (const role of ["user", "model"])
      expect(parsed({ type: "content", content: { role, parts: [] } })).toMatchObject({ kind: "line" });
    for (const wrong of [{ role: "system", parts: [] }, { role: "user" }, "a"])
      expect(parsed({ type: "content", content: wrong })).toEqual(incomplete("content"));
  });
});

test.each([
  { server: "s", kind: "reads", fingerprint: "f" },
  { server: "s", kind: "tools", keys: { a: "1", b: "2" } },
  { server: "s", kind: "server", keys: {} },
])("the approval %j is read", (approval) => {
  expect(parsed({ type: "approval", approval })).toMatchObject({ kind: "line" });
});

/** Lines with one mistake that is not simply a missing member. */
test.each([
  { type: "approval", approval: { kind: "reads", fingerprint: "f" } },
  { type: "approval", approval: { server: "s", kind: "reads", keys: {} } },
  { type: "approval", approval: { server: "s", kind: "all", keys: {} } },
  { type: "approval", approval: { server: "s", kind: "tools", fingerprint: "f" } },
  { type: "approval", approval: { server: "s", kind: "tools", keys: { a: "1", b: 2 } } },
  { type: "rewind", to: -1 },
  { type: "rewind", to: 0.5 },
  { type: "rewind", to: "1" },
  { type: "response", index: 0, part: { text: "a" }, beside: [{ text: "b" }, {}] },
  { type: "response", index: 0, part: { text: "a" }, beside: { text: "b" } },
  { type: "compact", contents: [{ role: "model", parts: [] }, { role: "model" }] },
  {
    type: "names",
    tools: [
      { server: "s", name: "t", as: "s_t" },
      { server: "s", name: "u" },
    ],
  },
  { type: "names", tools: [], functions: { call_tool: "call", read_result: 1 } },
  { type: "offered", from: 0, places: [{ server: "s" }] },
  { type: "offered", from: 0, places: [{ function: "call_tool" }, { function: "own" }] },
  { ...call, status: "waiting" },
  { ...call, error: { code: "none", message: "no" } },
  { ...call, error: { code: "usage" } },
  { ...call, media: [media, { mimeType: "image/png" }] },
  { ...call, files: ["a", 1] },
  { type: "missing", servers: [{ server: "s", message: "m" }, { server: "s" }] },
  { type: "waiting", servers: ["s", 1] },
  { type: "done", reason: "other", text: "", denied: 0, calls: 0 },
])("the line %j is incomplete", (line) => {
  expect(parsed(line)).toEqual(incomplete(line.type));
});

test("each status of a call and each reason for the end of a turn is read", () => {
  for (const status of ["requested", "asking", "queued", "running", "ok", "error", "denied", "cancelled"])
    expect(parsed({ ...call, status })).toMatchObject({ kind: "line" });
  for (const reason of ["stop", "length", "safety", "limit", "cancelled"])
    expect(parsed({ type: "done", reason, text: "", denied: 0, calls: 0 })).toMatchObject({ kind: "line" });
});

test("a line of another type is skipped; a line without time or type is invalid", () => {
  expect(parsed({ type: "later" })).toEqual({ kind: "unknown" });
  expect(parsed({ type: "toString" })).toEqual({ kind: "unknown" });
  const noType = { kind: "invalid", reason: "the line has no time or no type" };
  for (const text of ["", "[]", "null", '{"type":"title","title":"a"}', `{"time":"${time}"}`])
    expect(parseRecordedLine(text)).toEqual(noType);
});

test("a line may have 200 levels, but not more", () => {
  const nested = (levels: number) => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level += 1) value = { value };
    return { ...call, args: value };
  };
  expect(parsed(nested(199))).toMatchObject({ kind: "line" });
  expect(parsed(nested(200))).toEqual({ kind: "invalid", reason: "the line is nested too deeply" });
});
