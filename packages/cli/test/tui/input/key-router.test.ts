import { expect, test } from "vitest";
import { emptyEditor } from "../../../src/tui/input/editor.ts";
import { routeKey } from "../../../src/tui/input/key-router.ts";
import type { Key } from "../../../src/tui/input/keys.ts";
import type { AppState } from "../../../src/tui/state/app-state.ts";
import { after, call, confirmation, idle, inTurn, press } from "../../support/tui/app-state.ts";

const ctrlC = "\u0003";
/** As terminals send it that leave no doubt. */
const escapeKey = "\u001b[27u";
const kindsOf = (state: AppState, typed: string): readonly string[] =>
  press(state, typed).actions.map(({ type }) => type);
const shown = (state: AppState, key = "q1"): AppState => after(state, { type: "drawn", key });

test("Enter sends what was typed, whole, and empties the prompt", () => {
  const { state, actions } = press(idle, "  hello\r");
  expect([actions, state.editor.text]).toEqual([[{ type: "submit", text: "hello" }], ""]);
  expect(press(idle, " \r").actions).toEqual([]);
});

test("a paste goes out whole", () => {
  const lines = "x\n".repeat(300);
  expect(press(idle, `see \u001b[200~${lines}\u001b[201~\r`).actions).toEqual([
    { type: "submit", text: `see ${lines}`.trim() },
  ]);
});

test("Alt-Enter, Ctrl-J and a backslash at the end make a new line", () => {
  const { actions, state } = press(idle, "a\u001b\rb\nc\\\rd");
  expect([actions, state.editor.text]).toEqual([[], "a\nb\nc\nd"]);
});

test("what is stopped first: the call, then the turn, then what is typed; the app only when it is said twice", () => {
  const typing = press(inTurn(call("a", "running")), "abc").state;
  expect(kindsOf(typing, ctrlC)).toEqual(["cancel_calls"]);
  const stopped = after(typing, { type: "turn", event: call("a", "cancelled"), now: 1 });
  expect(kindsOf(stopped, ctrlC)).toEqual(["cancel_turn"]);
  const stopping = after(stopped, { type: "cancelling" });
  const cleared = press(stopping, ctrlC);
  expect([cleared.actions, cleared.state.editor.text]).toEqual([[], ""]);
  const armed = press(cleared.state, ctrlC);
  expect([armed.actions, armed.state.isQuitArmed]).toEqual([[], true]);
  expect(kindsOf(armed.state, ctrlC)).toEqual(["quit"]);
});

test.each([
  ["a letter", `${ctrlC}a\u007f${ctrlC}`],
  ["an arrow", `${ctrlC}\u001b[D${ctrlC}`],
  ["Escape", `${ctrlC}${escapeKey}${ctrlC}`],
])("Ctrl-C twice with %s between them does not end the app", (_, keys) => {
  expect(kindsOf(idle, keys)).toEqual([]);
});

test("Ctrl-D on an empty prompt quits at once, and during a turn or a question only the second time", () => {
  const ctrlD = "\u0004";
  expect(kindsOf(idle, ctrlD)).toEqual(["quit"]);
  const typed = press(idle, `ab\u001b[D${ctrlD}`);
  expect([typed.actions, typed.state.editor.text]).toEqual([[], "a"]);
  expect(kindsOf(inTurn(), ctrlD)).toEqual([]);
  expect(kindsOf(inTurn(), ctrlD.repeat(2))).toEqual(["quit"]);
  expect(kindsOf(inTurn(), `${ctrlD}a\u007f${ctrlD}`)).toEqual([]);
});

test("Escape stops what goes on, and never ends the app", () => {
  expect(kindsOf(inTurn(), escapeKey)).toEqual(["cancel_turn"]);
  expect(kindsOf(idle, escapeKey.repeat(4))).toEqual([]);
});

test("what is typed before a question is seen is no answer to it", () => {
  const asked = after(idle, { type: "ask", question: confirmation("q1") });
  const early = press(asked, "y");
  expect([early.actions, early.state.editor.text]).toEqual([[], "y"]);
});

test("what is ended before a question is seen is what went on before it, not the question", () => {
  const asked = after(inTurn(call("a", "running")), { type: "ask", question: confirmation("q1") });
  expect([kindsOf(asked, escapeKey), kindsOf(asked, ctrlC)]).toEqual([["cancel_calls"], ["cancel_calls"]]);
});

test("a user who is typing when a question appears goes on typing, until Tab", () => {
  const asked = shown(after(press(idle, "tell me").state, { type: "ask", question: confirmation("q1") }));
  const typed = press(asked, "y");
  expect([typed.actions, typed.state.editor.text]).toEqual([[], "tell mey"]);
  expect(press(typed.state, "\ty").actions).toMatchObject([
    { type: "answer", question: { key: "q1" }, answer: { kind: "confirmation", value: "once" } },
  ]);
});

test("a question that was seen on an empty prompt is answered by one key; other words are typed", () => {
  const asked = shown(after(idle, { type: "ask", question: confirmation("q1") }));
  expect(press(asked, "t").actions).toMatchObject([{ answer: { value: "conversation" } }]);
  const words = press(asked, "yes please");
  expect([words.actions, words.state.editor.text, words.state.focus]).toEqual([[], "yes please", "input"]);
  const pasted = press(asked, "\u001b[200~y\u001b[201~");
  expect([pasted.actions, pasted.state.editor.text]).toEqual([[], "y"]);
});

test.each(["\r", "n", ctrlC])("%j says no", (key) => {
  const asked = shown(after(idle, { type: "ask", question: confirmation("q1") }));
  expect(press(asked, key).actions).toMatchObject([{ type: "answer", answer: { value: "no" } }]);
});

test("the key that answers one question does not answer the next: that must be seen first", () => {
  const both = shown(
    after(idle, { type: "ask", question: confirmation("q1") }, { type: "ask", question: confirmation("q2") }),
  );
  expect(both.questions.map(({ key }) => key)).toEqual(["q1", "q2"]);
  const next = after(both, { type: "asked", key: "q1" });
  const early = press(next, "y");
  expect([early.actions, early.state.editor.text]).toEqual([[], "y"]);
  expect(press(shown(next, "q2"), "y").actions).toMatchObject([{ question: { key: "q2" } }]);
});

test("a frame with an earlier question in it is not one with this", () => {
  const asked = after(idle, { type: "ask", question: confirmation("q2") });
  expect(shown(asked, "q1").focus).toBe("unseen");
});

const ctrl = (text: string): Key => ({ name: "text", text, ctrl: true });

test("a key that means nothing, and any key while the app quits, changes nothing", () => {
  const asked = shown(after(idle, { type: "ask", question: confirmation("q1") }));
  for (const state of [idle, asked]) expect(routeKey(state, { name: "unknown" })).toEqual({ events: [] });
  const quitting = { ...asked, isQuitting: true };
  for (const key of [{ name: "text", text: "y" }, { name: "enter" }, ctrl("c"), ctrl("l")] as const)
    expect(routeKey(quitting, key)).toEqual({ events: [] });
  expect(routeKey({ ...idle, isQuitting: true }, { name: "text", text: "y" })).toEqual({ events: [] });
});

test("Ctrl-L redraws the screen, Ctrl-O unfolds a result, and the letters alone are typed", () => {
  expect(routeKey(idle, ctrl("l"))).toEqual({ events: [], action: { type: "redraw" } });
  expect(routeKey(idle, ctrl("o"))).toEqual({ events: [{ type: "fold" }] });
  expect(press(idle, "lo").state.editor.text).toBe("lo");
  expect(routeKey(idle, { name: "text", text: "l", meta: true })).toEqual({ events: [] });
});

test("Tab moves to a question only if there is one and the prompt has the focus", () => {
  const tab: Key = { name: "tab" };
  const asked = after(idle, { type: "ask", question: confirmation("q1") });
  const typing = shown(after(press(idle, "tell me").state, { type: "ask", question: confirmation("q1") }));
  expect([idle.focus, asked.focus, typing.focus]).toEqual(["input", "unseen", "input"]);
  expect([routeKey(idle, tab), routeKey(asked, tab)]).toEqual([{ events: [] }, { events: [] }]);
  expect(routeKey(typing, tab)).toEqual({ events: [{ type: "focus", focus: "dialog" }] });
});

test.each([
  ["queued", "cancel_calls"],
  ["running", "cancel_calls"],
  ["ok", "cancel_turn"],
  ["error", "cancel_turn"],
] as const)("with a %s call, Escape does this: %s", (status, action) => {
  expect(kindsOf(inTurn(call("a", status)), escapeKey)).toEqual([action]);
});

test("a paste into the argument of a call is quoted; without a model, every line is a call", () => {
  const pasteInto = (state: AppState, text: string): string =>
    press(press(state, text).state, "\u001b[200~b c\u001b[201~").state.editor.text;
  const manual: AppState = { ...idle, model: { provider: "manual", name: "manual" } };
  expect(pasteInto(idle, "s.t a=")).toBe('s.t a="b c"');
  expect(pasteInto(idle, "what is a=")).toBe("what is a=b c");
  expect(pasteInto(manual, "what is a=")).toBe('what is a="b c"');
});

test("Ctrl-C keeps the text of the prompt for Ctrl-Y", () => {
  expect(routeKey(press(idle, "abc").state, ctrl("c"))).toEqual({
    events: [{ type: "edit", editor: { ...emptyEditor, cut: "abc" } }],
  });
});

test("Enter after a backslash inserts a line break only at the end of the text", () => {
  expect(press(idle, "a\\\u001b[D\r").actions).toEqual([{ type: "submit", text: "a\\" }]);
  const { events } = routeKey(press(idle, "a\\").state, { name: "enter" });
  expect(events).toEqual([{ type: "edit", editor: { ...emptyEditor, text: "a\n", cursor: 2 } }]);
});
