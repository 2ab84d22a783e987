import type { CallStatus } from "@fairlead/core/turn/events";
import { expect, test } from "vitest";
import { isOver, isSettled, type TranscriptItem, toCard } from "../../../src/tui/state/transcript.ts";
import { call } from "../../support/tui/app-state.ts";
import { card } from "../../support/tui/samples.ts";

test.each<[CallStatus, boolean]>([
  ["requested", false],
  ["asking", false],
  ["queued", false],
  ["running", false],
  ["ok", true],
  ["error", true],
  ["denied", true],
  ["cancelled", true],
])("a call that is %s is over: %s", (status, isDone) => {
  expect(isOver(status)).toBe(isDone);
  expect(isSettled({ key: "1", kind: "call", call: card({ status }) })).toBe(isDone);
});

test.each<[TranscriptItem, boolean]>([
  [{ key: "1", kind: "answer", text: "x", isDone: false }, false],
  [{ key: "1", kind: "answer", text: "x", isDone: true }, true],
  [{ key: "1", kind: "thought", text: "x", isDone: false }, false],
  [{ key: "1", kind: "thought", text: "x", isDone: true }, true],
  [{ key: "1", kind: "person", text: "x", attachments: [] }, true],
  [{ key: "1", kind: "note", tone: "info", text: "x" }, true],
  [{ key: "1", kind: "output", title: "x", text: "x" }, true],
])("the item %j is complete: %s", (item, isDone) => {
  expect(isSettled(item)).toBe(isDone);
});

const first = { id: "a", server: "s", tool: "echo", args: {}, files: [], media: [], isOpen: false };

test("a new card has the members of its event, and a start time only if the call runs", () => {
  expect(toCard(call("a", "requested"), undefined, 7)).toEqual({ ...first, status: "requested" });
  expect(toCard(call("a", "queued"), undefined, 7)).toEqual({ ...first, status: "queued" });
  expect(toCard(call("a", "running"), undefined, 7)).toEqual({ ...first, status: "running", startedAt: 7 });
});

test("a call of an unknown tool has the model's name for it and no server", () => {
  const event = { type: "call", id: "a", name: "no_tool", args: {}, status: "error" } as const;
  const { server: _server, ...own } = first;
  expect(toCard(event, undefined, 7)).toEqual({ ...own, tool: "no_tool", status: "error" });
});

const error = { code: "tool_error", message: "it failed" } as const;
const media = [{ mimeType: "image/png", data: "AAAA" }];
const full = { display: "x", durationMs: 5, rule: "a rule", files: ["/f"], media } as const;

test("a card takes every member of a new event, and keeps its other members", () => {
  const running = toCard(call("a", "running", { rule: "first rule" }), undefined, 7);
  const moving = { ...running, progress: { progress: 1 }, isOpen: true };
  expect(toCard(call("a", "asking"), moving, 9)).toEqual({
    ...first,
    status: "asking",
    startedAt: 7,
    progress: { progress: 1 },
    rule: "first rule",
    isOpen: true,
  });
  const ended = toCard(call("a", "error", { ...full, error }), moving, 9);
  expect(ended).toEqual({ ...first, status: "error", startedAt: 7, ...full, error, isOpen: true });
  const { server: _server, serverToolName: _tool, ...bare } = call("a", "cancelled");
  expect(toCard(bare, ended, 11)).toEqual({
    ...first,
    tool: "s_echo",
    status: "cancelled",
    startedAt: 7,
    display: "x",
    rule: "a rule",
    files: ["/f"],
    media,
    isOpen: true,
  });
});

test("a result may be empty", () => {
  const before = toCard(call("a", "running", { display: "x", files: ["/f"] }), undefined, 7);
  expect(toCard(call("a", "ok", { display: "", files: [] }), before, 9)).toMatchObject({ display: "", files: [] });
});
