import type { RecordedLine } from "@fairlead/core/conversations/format";
import { expect, test } from "vitest";
import { conversationDocument } from "../../src/server/words/conversation-document.ts";

const time = "2026-01-31T08:30:00.000Z";
const head = {
  v: 1,
  id: "20260131-083000-1a2b3c",
  time,
  workspace: "/w",
  model: { provider: "gemini", name: "m" },
} as const;

const events: readonly RecordedLine[] = [
  { time, type: "input", text: "hello" },
  { time, type: "title", title: "First" },
  { time, type: "text", text: "hi" },
  { time, type: "title", title: "Last" },
  { time, type: "done", reason: "stop", text: "hi", denied: 0, calls: 0 },
];
/** Lines that Fairlead needs only to resume the conversation. */
const internal: readonly RecordedLine[] = [
  { time, type: "content", content: { role: "user", parts: [] } },
  { time, type: "response", index: 0, part: { text: "x" } },
  { time, type: "rewind", to: 0 },
  { time, type: "names", tools: [] },
  { time, type: "offered", from: 0, places: [] },
  { time, type: "approval", approval: { kind: "reads", server: "s", fingerprint: "f" } },
];

test("the document has the last title and the events, without the lines that are only for resuming", () => {
  expect(conversationDocument({ head, lines: [...internal, ...events, ...internal] })).toEqual({
    id: head.id,
    title: "Last",
    startedAt: time,
    workspace: "/w",
    model: head.model,
    events,
  });
});

test("the document of a conversation without a title has none", () => {
  expect(conversationDocument({ head, lines: [] })).toEqual({
    id: head.id,
    startedAt: time,
    workspace: "/w",
    model: head.model,
    events: [],
  });
});
