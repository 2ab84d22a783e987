import { setImmediate as nextTurn } from "node:timers/promises";
import { systemClock } from "@fairlead/core/clock";
import { expect, test } from "vitest";
import { PastedLines } from "../../../src/tui/plain/pasted-lines.ts";
import type { AppState } from "../../../src/tui/state/app-state.ts";
import { after, confirmation, idle } from "../../support/tui/app-state.ts";

const manual: AppState = { ...idle, model: { ...idle.model, provider: "manual" } };
const scripted: AppState = { ...idle, model: { ...idle.model, provider: "scripted" } };

/** The lines as they are entered, or why they are refused. */
function pasted(state: AppState, ...lines: readonly string[]): readonly string[] {
  const done: string[] = [];
  const enter = (line: string): void => void done.push(line);
  const { add, flush } = new PastedLines({
    clock: systemClock,
    get: () => state,
    enter,
    refuse: (reason) => done.push(`! ${reason}`),
  });
  for (const line of lines) add(line);
  flush();
  return done;
}

test("lines after an argument are not run as calls, and the call is not run with a part of its value", () => {
  expect(pasted(manual, "demo.statistics text=one", "two words", "three")).toEqual([
    '! You pasted 3 lines, and "two words" is not a tool call, so nothing was run. If a value has several lines, put it into quotes.',
  ]);
});

test.each([
  [manual, ["demo.greet name=a", "demo.greet name=b", "/tools"]],
  [manual, ['demo.statistics text="one', 'two words"']],
  [scripted, ["Summarise this:", "", "first point"]],
])("calls, a value in quotes and a message to the model are entered together", (state, lines) => {
  expect(pasted(state, ...lines)).toEqual([lines.join("\n")]);
});

test("one line, and lines that answer a question, are entered one by one", () => {
  expect(pasted(manual, "two words")).toEqual(["two words"]);
  const asked = after(manual, { type: "ask", question: confirmation("q1") });
  expect(pasted(asked, "n", "two words")).toEqual(["n", "two words"]);
});

test("lines are entered as soon as no other line follows at once", async () => {
  const entered: string[] = [];
  let fire = (): void => {};
  const clock = {
    now: () => 0,
    after(_milliseconds: number, action: () => void) {
      fire = action;
      return () => (fire = () => {});
    },
  };
  const enter = (line: string): void => void entered.push(line);
  const { add } = new PastedLines({ clock, get: () => scripted, enter, refuse: enter });
  add("one");
  add("two");
  expect(entered).toEqual([]);
  fire();
  await nextTurn();
  expect(entered).toEqual(["one\ntwo"]);
  add("three");
  fire();
  await nextTurn();
  expect(entered).toEqual(["one\ntwo", "three"]);
});
