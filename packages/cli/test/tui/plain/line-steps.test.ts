import type { JsonObject } from "@fairlead/wire";
import { expect, test } from "vitest";
import { type Action, routeKey } from "../../../src/tui/input/key-router.ts";
import { lineSteps } from "../../../src/tui/plain/line-steps.ts";
import type { AppState } from "../../../src/tui/state/app-state.ts";
import type { Asked } from "../../../src/tui/state/questions.ts";
import { after, confirmation, idle } from "../../support/tui/app-state.ts";

/** What comes of these lines, one after the other. */
function entered(
  state: AppState,
  ...lines: readonly string[]
): { readonly state: AppState; readonly actions: Action[] } {
  const actions: Action[] = [];
  let now = state;
  for (const line of lines)
    for (const step of lineSteps(now, line)) {
      const { events, action } = "key" in step ? routeKey(now, step.key) : { events: [step.event] };
      now = after(now, ...events);
      if (action !== undefined) actions.push(action);
    }
  return { state: now, actions };
}

const enter = (state: AppState, ...lines: readonly string[]): readonly Action[] => entered(state, ...lines).actions;

const asked = (question: Asked): AppState =>
  after(idle, { type: "ask", question: { ...question, key: "q1" } }, { type: "drawn", key: "q1" });
const valuesOf = (state: AppState, ...lines: readonly string[]): readonly unknown[] =>
  enter(state, ...lines).map((action) => (action.type === "answer" ? action.answer.value : action.type));

/** It is printed once more, because the compared objects differ, and no question is answered. */
function isAskedAgain(before: AppState, ...lines: readonly string[]): boolean {
  const { state, actions } = entered(before, ...lines);
  return actions.length === 0 && state.dialog !== before.dialog && state.questions[0] === before.questions[0];
}

test("a line is sent whole, however long, and a backslash at its end goes on", () => {
  const long = "x".repeat(5000);
  expect(enter(idle, long, "one\\", "two", "")).toEqual([
    { type: "submit", text: long },
    { type: "submit", text: "one\ntwo" },
  ]);
});

test.each<[string, readonly unknown[]]>([
  ["y", ["once"]],
  ["", ["no"]],
  ["yes please", []],
  ["q", []],
])("%j as the answer to a confirmation", (line, values) => {
  const { key: _key, ...question } = confirmation("q1");
  expect(valuesOf(asked(question), line)).toEqual(values);
});

test("a no with a reason takes two lines: b, then the reason; an empty line goes back to the question", () => {
  const { key: _key, ...question } = confirmation("q1");
  const first = entered(asked(question), "b").state;
  expect(first.dialog?.kind).toBe("typed");
  expect(valuesOf(first, "not now")).toEqual([{ because: "not now" }]);
  expect(entered(first, "").state.dialog?.kind).toBe("read");
});

test("a question that was not printed yet is not answered", () => {
  const unseen = after(idle, { type: "ask", question: confirmation("q1") });
  expect(enter(unseen, "y")).toEqual([{ type: "submit", text: "y" }]);
});

test("one of several is chosen by its number, and a text is typed", () => {
  const choice = asked({ kind: "choice", serverName: "s", message: "which?", options: ["a", "b"] });
  expect(["2", "", "0", "b"].map((line) => valuesOf(choice, line))).toEqual([[1], [0], [undefined], []]);
  expect(["3", "99999999999", "1e3", "b"].map((line) => isAskedAgain(choice, line))).toEqual(Array(4).fill(true));
  const id = asked({ kind: "client_id", serverName: "s", issuer: "https://a", redirectUri: "http://b" });
  expect([valuesOf(id, " abc "), valuesOf(id, "")]).toEqual([["abc"], [""]]);
});

test("a sign-in with a device code can only be stopped", () => {
  const code = asked({ kind: "sign_in", serverName: "s", messages: [], canPaste: false });
  expect([valuesOf(code, "n"), valuesOf(code, ""), isAskedAgain(code, "http://127.0.0.1/?code=1")]).toEqual([
    [undefined],
    [],
    true,
  ]);
  expect(entered(code, "y").state.items.at(-1)).toMatchObject({
    text: '"y" is not an answer. Type n to stop the sign-in.',
  });
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

const formOf = (properties: object): AppState => {
  const schema = { type: "object", properties } as JsonObject;
  return asked({ kind: "form", serverName: "s", message: "", schema, purpose: "elicitation" });
};
/** What is sent when this line is typed into the only field. */
const sent = (schema: object, line: string): unknown => valuesOf(formOf({ field: schema }), line, "");
const accepted = (field: unknown): unknown => [{ action: "accept", content: { field } }];

const sizes = { enum: ["larger", "large", "small", "smart"], default: "large" };
const titled = {
  oneOf: [
    ["a", "Low"],
    ["b", "Lower"],
    ["Low", "High"],
  ].map(([value, title]) => ({ const: value, title })),
};
const marks = { type: "array", items: { enum: ["red", "green", "a, b"] }, default: ["green"] };

test.each<[string, object, string, unknown]>([
  ["yes", { type: "boolean" }, "yes", true],
  ["no, although yes stands there", { type: "boolean", default: true }, "No", false],
  ["a choice that another one begins like", sizes, "large", "large"],
  ["a choice in other letters", sizes, "LARGER", "larger"],
  ["the beginning of one choice only", sizes, "smal", "small"],
  ["a title goes before a value", titled, "Low", "a"],
  ["a value", titled, "b", "b"],
  ["several, instead of those that were marked", marks, "red", ["red"]],
  ["several that were marked already", marks, "green, red", ["red", "green"]],
  ["one with a comma in it", marks, "a, b", ["a, b"]],
  ["none of several", marks, ",", []],
  ["text with its blanks", { type: "string" }, "  two  words ", "  two  words "],
  ["a dash", { type: "string" }, "\\-", "-"],
  ["a dot", { type: "string" }, "\\.", "."],
  ["a negative number", { type: "integer" }, "-3", -3],
])("what is typed into a field is what is sent: %s", (_, schema, line, value) => {
  expect(sent(schema, line)).toEqual(accepted(value));
});

test.each<[string, object, string, string]>([
  ["no yes and no no", { type: "boolean", default: true }, "maybe", "must be yes or no"],
  ["no choice", sizes, "huge", "must be one of: larger, large, small, smart"],
  ["two choices", sizes, "sm", "is ambiguous: small, smart"],
  ["one of several that is none", marks, "red, blue", "must be one of: red, green, a, b"],
  ["no number", { type: "integer" }, "x", "must be a whole number"],
])("%s is asked for again, and nothing is changed or sent", (_, schema, line, problem) => {
  const before = formOf({ field: schema });
  const { state, actions } = entered(before, line);
  const form = state.dialog?.kind === "form" ? state.dialog.form : undefined;
  expect([actions, form?.focus, [...(form?.problems.values() ?? [])]]).toEqual([[], 0, [problem]]);
});

test("a dash declines in every field, and other words on the button send nothing", () => {
  const form = formOf({ name: { type: "string" }, isNew: { type: "boolean" } });
  expect([valuesOf(form, "-"), valuesOf(form, "Ada", " - ")]).toEqual([
    [{ action: "decline" }],
    [{ action: "decline" }],
  ]);
  expect(valuesOf(form, "Ada", "y", "what?")).toEqual([]);
});

test("a word where a letter is asked for is answered with the letters, and the question", () => {
  const { key: _key, ...question } = confirmation("q1");
  const before = asked(question);
  expect(isAskedAgain(before, "yes")).toBe(true);
  expect(entered(before, "yes").state.items.at(-1)).toMatchObject({
    kind: "note",
    text: '"yes" is not an answer. Type one letter: y (yes, once), t (this tool, until the conversation ends), s (all tools of the server, until the conversation ends), n (no (also Enter, Esc)), b (no, because …).',
  });
});

test("the first and the last option are chosen by their numbers", () => {
  const choice = asked({ kind: "choice", serverName: "s", message: "which?", options: ["a", "b"] });
  expect([valuesOf(choice, "1"), valuesOf(choice, " 2 ")]).toEqual([[0], [1]]);
  expect(entered(choice, "3").state.items.at(-1)).toMatchObject({
    kind: "note",
    tone: "warning",
    text: '"3" is not a choice: type a number from 1 to 2, or 0 for none.',
  });
});

test.each<[Asked, string]>([
  [{ kind: "url", serverName: "s", message: "", url: "https://a", purpose: "elicitation" }, "y, h or n"],
  [{ kind: "trust", root: "/a", servers: [], approved: [] }, "y or n"],
])("the user is told the letters of a question: %j", (question, letters) => {
  expect(entered(asked(question), "what").state.items.at(-1)).toMatchObject({
    kind: "note",
    tone: "warning",
    text: `"what" is not an answer. Type one letter: ${letters}.`,
  });
});

test("a valid value removes the problem of its field, and keeps the others", () => {
  const before = formOf({ age: { type: "integer" }, size: { type: "integer" } });
  const problems = (...lines: readonly string[]): readonly unknown[] => {
    const { dialog } = entered(before, ...lines).state;
    return dialog?.kind === "form" ? [dialog.form.focus, [...dialog.form.problems.keys()]] : [];
  };
  expect([problems("x"), problems("x", "3"), problems("x", "3", "y")]).toEqual([
    [0, [0]],
    [1, []],
    [1, [1]],
  ]);
});
