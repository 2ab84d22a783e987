import { expect, test } from "vitest";
import { type Action, routeKey } from "../../../src/tui/input/key-router.ts";
import { lineKeys } from "../../../src/tui/plain/line-keys.ts";
import type { AppState } from "../../../src/tui/state/app-state.ts";
import type { Asked } from "../../../src/tui/state/questions.ts";
import { after, confirmation, idle } from "../state/app.ts";

/** What comes of these lines, one after the other. */
function enter(state: AppState, ...lines: readonly string[]): readonly Action[] {
  const actions: Action[] = [];
  let now = state;
  for (const line of lines)
    for (const key of lineKeys(now, line)) {
      const { events, action } = routeKey(now, key);
      now = after(now, ...events);
      if (action !== undefined) actions.push(action);
    }
  return actions;
}

const asked = (question: Asked): AppState =>
  after(idle, { type: "ask", question: { ...question, key: "q1" } }, { type: "drawn", key: "q1" });
const valuesOf = (state: AppState, ...lines: readonly string[]): readonly unknown[] =>
  enter(state, ...lines).map((action) => (action.type === "answer" ? action.answer.value : action.type));

test("a line is sent whole, however long, and a backslash at its end goes on", () => {
  const long = "x".repeat(5000);
  expect(enter(idle, long, "one\\", "two", "")).toEqual([
    { type: "submit", text: long },
    { type: "submit", text: "one\ntwo" },
  ]);
});

test.each<[string, readonly unknown[]]>([
  ["y", ["proceed_once"]],
  ["", ["cancel"]],
  ["yes please", []],
  ["q", []],
])("%j as the answer to a confirmation", (line, values) => {
  const { key: _key, ...question } = confirmation("q1");
  expect(valuesOf(asked(question), line)).toEqual(values);
});

test("a question that was not printed yet is not answered", () => {
  const unseen = after(idle, { type: "ask", question: confirmation("q1") });
  expect(enter(unseen, "y")).toEqual([{ type: "submit", text: "y" }]);
});

test("one of several is chosen by its number, and a text is typed", () => {
  const choice = asked({ kind: "choice", serverName: "s", message: "which?", options: ["a", "b"] });
  expect([valuesOf(choice, "2"), valuesOf(choice, ""), valuesOf(choice, "b")]).toEqual([[1], [undefined], []]);
  const id = asked({ kind: "client_id", serverName: "s", issuer: "https://a", redirectUri: "http://b" });
  expect([valuesOf(id, " abc "), valuesOf(id, "")]).toEqual([["abc"], [""]]);
});

test("a form is filled in line by line; an empty line leaves a field as it is", () => {
  const properties = {
    name: { type: "string" },
    age: { type: "integer", default: 7 },
    isNew: { type: "boolean" },
    size: { enum: ["small", "large"] },
    tags: { type: "array", items: { enum: ["red", "blue", "green"] } },
  };
  const schema = { type: "object", properties, required: ["name"] };
  const form = asked({ kind: "form", serverName: "s", message: "", schema, purpose: "elicitation" });
  expect(valuesOf(form, "Ada", "", "y", "large", "red, green", "")).toEqual([
    { action: "accept", content: { name: "Ada", age: 7, isNew: true, size: "large", tags: ["red", "green"] } },
  ]);
  expect(valuesOf(form, "Ada", "", "", "", "", "-")).toEqual([{ action: "decline" }]);
  expect(valuesOf(form, ".")).toEqual([{ action: "cancel" }]);
});
