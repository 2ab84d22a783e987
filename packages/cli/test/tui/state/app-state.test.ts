import { expect, test } from "vitest";
import { questionNumber, rowsOf } from "../../../src/tui/state/app-state.ts";
import { after, call, idle, inTurn } from "../../support/tui/app-state.ts";
import { card, confirmation } from "../../support/tui/samples.ts";

const size = { columns: 10, rows: 5 };
const note = (text: string) => ({ kind: "note", tone: "info", text, key: "item-1" }) as const;

test("an item takes the rows of its text, wrapped, and one more", () => {
  expect(rowsOf(undefined, size)).toBe(2);
  expect(rowsOf(note("one"), size)).toBe(2);
  expect(rowsOf(note("one\ntwo"), size)).toBe(3);
  expect(rowsOf(note("x".repeat(9)), size)).toBe(2);
  expect(rowsOf(note("x".repeat(10)), size)).toBe(3);
});

test("the result of a call takes rows only while it is open", () => {
  const item = (isOpen: boolean) =>
    ({ kind: "call", key: "item-1", call: card({ display: "a\nb\nc", isOpen }) }) as const;
  expect([rowsOf(item(false), size), rowsOf(item(true), size)]).toEqual([2, 4]);
});

test("calls that will ask count as questions if the open question is about a call", () => {
  const state = inTurn(call("a", "requested"), call("b", "requested"), call("c", "running"));
  expect(questionNumber(after(state, { type: "ask", question: confirmation() }))).toEqual({ index: 1, total: 3 });
  const other = { kind: "trust", key: "q", root: "/", servers: [], approved: [] } as const;
  expect(questionNumber(after(state, { type: "ask", question: other }))).toEqual({ index: 1, total: 1 });
  const both = after(state, { type: "ask", question: other }, { type: "ask", question: confirmation() });
  expect(questionNumber(both)).toEqual({ index: 1, total: 4 });
  expect(questionNumber(after(idle, { type: "ask", question: other }))).toEqual({ index: 1, total: 1 });
});
