import type { RecordedLine } from "@fairlead/core/conversations/format";
import { expect, test } from "vitest";
import { appEvents } from "../../src/conversations/recorded-events.ts";

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
