import type { RecordedLine } from "@fairlead/core/conversations/format";
import { HostError } from "@fairlead/core/errors";
import { expect, test } from "vitest";
import {
  appEvents,
  isTurnEvent,
  stateAfter,
  stateBefore,
  toTurnEvent,
} from "../../src/conversations/recorded-events.ts";

const time = "2026-01-31T08:30:00.000Z";
const head = {
  v: 1,
  id: "20260131-083000-1a2b3c",
  time,
  workspace: "/w",
  model: { provider: "gemini", name: "m" },
} as const;
const input = { time, type: "input", text: "hello" } as const;
const text = { time, type: "text", text: "hi" } as const;
const done = { time, type: "done", reason: "stop", text: "hi", denied: 0, calls: 0 } as const;
const error = { time, type: "error", error: { code: "model", message: "no answer" } } as const;

/** The texts of the user's messages, and the other events by their type or their error. */
function shown(lines: readonly RecordedLine[]): readonly string[] {
  return [...appEvents({ head, lines })].map(({ event }) => {
    if (event.type === "sent") return event.text;
    if (event.type !== "turn") return event.type;
    return event.event.type === "error" ? event.event.error.message : event.event.type;
  });
}

test.each([
  ["done", [input, text, done, input, done], ["hello", "text", "done", "hello", "done"]],
  ["an error", [input, text, error, input, error], ["hello", "text", "no answer", "hello", "no answer"]],
  [
    "an interruption if the recording has no end of it",
    [input, text, input, text],
    ["hello", "text", "This turn was interrupted.", "hello", "text", "This turn was interrupted."],
  ],
] as const)("each recorded turn ends once: with %s", (_end, lines, expected) => {
  expect(shown(lines)).toEqual(expected);
});

/** One line of every kind that is an event of a turn. */
const turnLines: readonly RecordedLine[] = [
  text,
  { time, type: "thought", text: "hm" },
  { time, type: "call", id: "1", name: "s_echo", args: {}, status: "requested" },
  { time, type: "progress", id: "1", progress: 1 },
  { time, type: "quarantined", server: "s", serverToolName: "echo", reason: "bad schema" },
  { time, type: "waiting", servers: ["s"] },
  { time, type: "missing", servers: [{ server: "s", message: "it ended" }] },
  { time, type: "note", message: "a note" },
  { time, type: "retry", attempt: 1, delayMs: 5, reason: "busy" },
  { time, type: "usage", inputTokens: 1, outputTokens: 2 },
  done,
];
/** Lines that are not shown: they are for resuming the conversation. */
const otherLines: readonly RecordedLine[] = [
  { time, type: "content", content: { role: "user", parts: [] } },
  { time, type: "response", index: 0, part: { text: "x" } },
  { time, type: "rewind", to: 0 },
  { time, type: "names", tools: [] },
  { time, type: "offered", from: 0, places: [] },
  { time, type: "tool", server: "s", serverToolName: "echo", enabled: false },
  { time, type: "title", title: "A title" },
  { time, type: "approval", approval: { kind: "reads", server: "s", fingerprint: "f" } },
  { time, type: "resumed", workspace: "/w" },
];
const at = Date.parse(time);
const eventsOf = (...lines: readonly RecordedLine[]) => [...appEvents({ head, lines })];

test.each(turnLines)("a recorded $type is the same event of the turn, without its time", (line) => {
  const { time: _time, ...event } = line;
  expect(eventsOf(line)).toEqual([{ at, event: { type: "turn", event, now: at } }]);
  expect(isTurnEvent(line)).toBe(true);
});

test.each(otherLines)("a recorded $type is not shown", (line) => {
  expect(eventsOf(line)).toEqual([]);
  expect(isTurnEvent(line)).toBe(false);
});

test("messages, a change of the model and a summary are events of the app", () => {
  const lines: readonly RecordedLine[] = [
    input,
    { time, type: "model", provider: "manual", name: "none" },
    { time, type: "compact", contents: [] },
    done,
  ];
  expect(lines.map(isTurnEvent)).toEqual([false, false, false, true]);
  expect(eventsOf(...lines).map(({ event }) => event)).toEqual([
    { type: "sent", text: "hello", attachments: [], now: at },
    { type: "model", model: { provider: "manual", name: "none" } },
    {
      type: "note",
      tone: "info",
      text: "The conversation was compacted: the model has a summary of the earlier messages.",
    },
    { type: "turn", event: { type: "done", reason: "stop", text: "hi", denied: 0, calls: 0 }, now: at },
  ]);
});

test("a recorded error is an error with the same code, message and next step", () => {
  const failed = (more: object) => toTurnEvent({ ...error, error: { ...error.error, ...more } });
  for (const [event, next] of [
    [failed({}), undefined],
    [failed({ next: "/model" }), "/model"],
  ] as const) {
    const found = event.type === "error" ? event.error : undefined;
    expect(found).toBeInstanceOf(HostError);
    expect([event.type, found?.code, found?.message, found?.next]).toEqual(["error", "model", "no answer", next]);
  }
});

test("a turn without an end counts as cancelled at the time of its last line", () => {
  const later = "2026-01-31T08:30:02.000Z";
  const [, , end, ...others] = eventsOf(input, { ...text, time: later });
  const { type, error: reason } = end?.event.type === "turn" && end.event.event.type === "error" ? end.event.event : {};
  expect([others, end?.at, type, reason?.code]).toEqual([[], at + 2000, "error", "cancelled"]);
});

test("time never goes back, and a line with an invalid time has the time of the line before", () => {
  const lines = ["2026-01-31T08:30:05.000Z", "yesterday", "2026-01-31T08:30:04.000Z", "2026-01-31T08:30:06.000Z"];
  expect(eventsOf(...lines.map((each) => ({ ...text, time: each }))).map((event) => event.at - at)).toEqual([
    5000, 5000, 5000, 6000,
  ]);
  const odd = { ...head, time: "yesterday" };
  expect([...appEvents({ head: odd, lines: [{ ...text, time: "never" }, text] })].map((event) => event.at)).toEqual([
    0,
    at,
  ]);
});

test.each(["gemini", "manual", "a later provider"])("the app shows the provider %s", (provider) => {
  const size = { columns: 80, rows: 24 };
  const recorded = { head: { ...head, model: { provider, name: "m" } }, lines: [input, text, done] };
  const before = stateBefore(recorded, size);
  expect([before.model, before.size, before.items]).toEqual([{ provider, name: "m" }, size, []]);
  const last = stateAfter(recorded, size);
  expect(last.items.map((item) => item.kind)).toEqual(["person", "answer"]);
  expect([last.model, last.turn]).toEqual([before.model, { kind: "idle" }]);
});
