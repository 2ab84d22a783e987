import { HostError } from "@fairlead/core/errors";
import type { TurnEvent } from "@fairlead/core/turn/events";
import { describe, expect, test } from "vitest";
import type { AppState } from "../../../src/tui/state/app-state.ts";
import { reduceTurn } from "../../../src/tui/state/reduce-turn.ts";
import { after, call, done, idle, inTurn } from "../../support/tui/app-state.ts";
import { confirmationDetails } from "../../support/tui/samples.ts";

/** The items that an event adds to a turn, without their keys. */
function added(...events: readonly TurnEvent[]): readonly object[] {
  return inTurn(...events)
    .items.slice(1)
    .map(({ key: _key, ...item }) => item);
}

test.each<[TurnEvent, readonly object[]]>([
  [
    { type: "quarantined", server: "s", serverToolName: "echo", reason: "bad schema" },
    [
      {
        kind: "note",
        tone: "warning",
        text: "The model's API refuses s.echo: bad schema. The conversation continues without this tool.",
      },
    ],
  ],
  [
    {
      type: "missing",
      servers: [
        { server: "a", message: "it ended" },
        { server: "b", message: "no sign-in", next: "/mcp auth b" },
      ],
    },
    [
      { kind: "note", tone: "warning", text: 'continuing without "a": it ended' },
      { kind: "note", tone: "warning", text: 'continuing without "b": no sign-in', next: "/mcp auth b" },
    ],
  ],
  [{ type: "note", message: "a note" }, [{ kind: "note", tone: "info", text: "a note" }]],
  [
    { type: "error", error: new HostError("cancelled", "Stopped.") },
    [{ kind: "note", tone: "info", text: "Stopped." }],
  ],
  [{ type: "error", error: new HostError("model", "failed") }, [{ kind: "note", tone: "error", text: "failed" }]],
  [{ ...done, reason: "cancelled" }, [{ kind: "note", tone: "info", text: "Cancelled." }]],
  [
    { ...done, reason: "length" },
    [
      {
        kind: "note",
        tone: "warning",
        text: "The answer is incomplete: it reached the model's output limit.",
        next: "to continue, type: go on",
      },
    ],
  ],
  [
    { ...done, reason: "limit" },
    [
      {
        kind: "note",
        tone: "warning",
        text: "Stopped: this turn reached its maximum number of steps.",
        next: "to continue, type: go on",
      },
    ],
  ],
  [
    { ...done, reason: "safety" },
    [{ kind: "note", tone: "warning", text: "The model's API stopped the answer (safety filter)." }],
  ],
])("the notes of %j", (event, items) => {
  expect(added(event)).toEqual(items);
});

test("a new attempt at the model's API is told until something comes", () => {
  const retry = { type: "retry", attempt: 1, delayMs: 5, reason: "busy" } as const;
  const waiting = inTurn(retry);
  expect(waiting.turn).toMatchObject({ doing: "the model's API failed (busy); trying again (attempt 2)" });
  for (const event of [{ type: "thought", text: "hm" } as const, call("a", "requested")])
    expect(after(waiting, { type: "turn", event, now: 1 }).turn).toEqual({
      kind: "running",
      startedAt: 0,
      isCancelling: false,
    });
  expect(reduceTurn(waiting, retry, 1)).toBe(waiting);
});

test("events that change nothing leave the state as it is", () => {
  const details = confirmationDetails();
  const running = inTurn(call("a", "running"));
  expect(reduceTurn(running, { type: "confirmation", id: "a", details }, 1)).toBe(running);
  // After its end, a turn waits for nothing.
  expect(reduceTurn(idle, { type: "waiting", servers: ["a"] }, 1)).toBe(idle);
});

test("progress without a total or a message has neither", () => {
  const [item] = added(call("a", "running"), { type: "progress", id: "a", progress: 3 }).slice(-1);
  expect(item).toMatchObject({ call: { progress: { progress: 3, total: undefined, message: undefined } } });
});

test("progress and the end of a call belong to the last call with this id", () => {
  const calls = added(call("a", "ok"), call("b", "running"), { type: "progress", id: "b", progress: 1 }, done);
  expect(calls).toMatchObject([
    { call: { id: "a", status: "ok" } },
    { call: { id: "b", status: "cancelled", progress: { progress: 1 } } },
  ]);
  expect(calls[0]).toMatchObject({ call: { progress: undefined } });
});

test("a thought is finished by an answer, and grows no more", () => {
  expect(
    added({ type: "thought", text: "a" }, { type: "text", text: "b" }, { type: "thought", text: "c" }, done),
  ).toEqual([
    { kind: "thought", text: "a", isDone: true },
    { kind: "answer", text: "b", isDone: true },
    { kind: "thought", text: "c", isDone: true },
  ]);
  const again = after(
    { ...idle, items: inTurn({ type: "text", text: "a" }, done).items },
    {
      type: "turn",
      event: { type: "text", text: "b" },
      now: 1,
    },
  );
  expect(again.items.slice(1)).toMatchObject([
    { text: "a", isDone: true },
    { text: "b", isDone: false },
  ]);
});

describe("a finished paragraph of a long answer is split off", () => {
  const textsOf = ({ items }: AppState): readonly string[] =>
    items.flatMap((item) => (item.kind === "answer" || item.kind === "thought" ? item.text : []));
  /** The answer arrives in two parts, because the first one begins the item. */
  const split = (text: string, type: "text" | "thought" = "text"): readonly string[] =>
    textsOf(inTurn({ type, text: text.slice(0, 1) }, { type, text: text.slice(1) }));
  const words = (length: number): string => "x".repeat(length);

  test.each<[string, string, string]>([
    ["exactly 400 characters with the gap", `${words(398)}\n\n`, "next"],
    ["a gap of several lines", `${words(400)}\n \n\n`, "next"],
    ["a closed code block", `\`\`\`\n${words(400)}\n\`\`\`\n\n`, "next"],
    ["a code block that a longer fence closes", `~~~\n${words(400)}\n~~~~\n\n`, "next"],
    ["a number that is not a list item", `${words(400)}\n\n`, "3 apples"],
    ["the last one of several", `${words(400)}\n\nmiddle\n\n`, "next"],
  ])("after %s", (_, first, rest) => {
    expect(split(`${first}${rest}`)).toEqual([first, rest]);
  });

  test.each<[string, string]>([
    ["an end before the 400th character", `${words(397)}\n\nnext`],
    ["a gap at the end of the text", `${words(400)}\n\n`],
    ["one line break", `${words(400)}\nnext`],
    ["a list that continues", `- ${words(400)}\n\n- next`],
    ["a numbered list that continues", `1. ${words(400)}\n\n2) next`],
    ["indented text", `${words(400)}\n\n  next`],
    ["an open code block", `\`\`\`\n${words(400)}\n\nnext`],
    ["a code block that a shorter or another fence does not close", `\`\`\`\`\n${words(400)}\n\`\`\`\n~~~~\n\nnext`],
  ])("but not after %s", (_, text) => {
    expect(split(text)).toEqual([text]);
  });

  test("but a thought stays whole", () => {
    const text = `${words(500)}\n\nnext`;
    expect(split(text, "thought")).toEqual([text]);
  });
});
