import type { RecordedLine } from "@fairlead/core/conversations/format";
import { expect, test } from "vitest";
import { play, playLines } from "../../src/conversations/replay-lines.ts";
import { handClock } from "../support/hand-clock.ts";

const second = (count: number): string => new Date(Date.UTC(2026, 0, 31, 8, 30) + count * 1000).toISOString();
const head = {
  v: 1,
  id: "20260131-083000-1a2b3c",
  time: second(0),
  workspace: "/w",
  model: { provider: "gemini", name: "m" },
} as const;
const note = (count: number): RecordedLine => ({ time: second(count), type: "note", message: `note ${count}` });
const recorded = { head, lines: [note(7), note(8), note(8), note(60)] };

/** A clock that does not wait, and the lengths of all pauses. */
function countingClock() {
  const pauses: number[] = [];
  const after = (milliseconds: number, action: () => void) => {
    pauses.push(milliseconds);
    queueMicrotask(action);
    return () => {};
  };
  return { clock: { now: () => 0, after }, pauses };
}

test.each([
  [1, [1000, 2000]],
  [2, [500, 1000]],
  [undefined, []],
] as const)("at speed %s, the pauses between the events are %j", async (speed, expected) => {
  const { clock, pauses } = countingClock();
  const seen: number[] = [];
  const { signal } = new AbortController();
  await play(recorded, { ...(speed && { speed }), clock, signal }, () => void seen.push(pauses.length));
  expect(pauses).toEqual(expected);
  // The first event comes at once, and the pause comes before its event.
  expect(seen).toEqual(speed === undefined ? [0, 0, 0, 0] : [0, 1, 1, 2]);
});

test("an event waits until the event before is shown, and after the signal there are no more events", async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  const playing = play(recorded, { clock: handClock(), signal: stop.signal }, async (event) => {
    seen.push(`begin ${event.type}`);
    await Promise.resolve();
    seen.push("end");
    if (seen.length === 4) stop.abort(new Error("enough"));
  });
  await expect(playing).rejects.toThrow("enough");
  expect(seen).toEqual(["begin turn", "end", "begin turn", "end"]);
});

test("the signal ends a pause", async () => {
  const stop = new AbortController();
  const shown: string[] = [];
  const playing = play(
    recorded,
    { speed: 1, clock: handClock(), signal: stop.signal },
    ({ type }) => void shown.push(type),
  );
  stop.abort(new Error("enough"));
  await expect(playing).rejects.toThrow("enough");
  expect(shown).toEqual(["turn"]);
});

/** What is printed for these lines: one text for each item. */
async function printed(...lines: readonly RecordedLine[]): Promise<readonly string[]> {
  const out: string[] = [];
  const { signal } = new AbortController();
  const print = (text: string): void => void out.push(text);
  await playLines({ head, lines }, { out: { print }, columns: 40, clock: handClock(), signal });
  return out;
}

test("each item is printed once, in order and when it is complete, and an open one at the end", async () => {
  const time = second(0);
  const call = { time, type: "call", id: "1", name: "s_echo", args: {} } as const;
  const out = await printed(
    { time, type: "input", text: "hello" },
    { time, type: "text", text: "I " },
    { time, type: "text", text: "look." },
    { ...call, status: "running" },
    { ...call, status: "ok", display: "found" },
    { time, type: "note", message: "a note" },
  );
  expect(out.map((text) => text.trim())).toEqual([
    expect.stringContaining("hello"),
    "I look.",
    expect.stringContaining("s_echo"),
    expect.stringContaining("a note"),
    expect.stringContaining("This turn was interrupted."),
  ]);
});
