import { expect, test } from "vitest";
import { type Action, routeKey } from "../../../src/tui/input/key-router.ts";
import { type Key, noKeys, readKeys } from "../../../src/tui/input/keys.ts";
import { QuestionGuard } from "../../../src/tui/input/question-guard.ts";
import type { AppEvent, AppState } from "../../../src/tui/state/app-state.ts";
import type { UserQuestion } from "../../../src/tui/state/questions.ts";
import { type HandClock, handClock } from "../../support/hand-clock.ts";
import { after, confirmation, idle } from "../../support/tui/app-state.ts";

const clientId: UserQuestion = { key: "id", kind: "client_id", serverName: "s", issuer: "https://a", redirectUri: "b" };

/** An app whose time is moved by hand; answers are taken at once. */
function open() {
  const byHand = handClock();
  const timers: [string, number, unknown][] = [];
  const clock: HandClock = {
    ...byHand,
    after(milliseconds, action, how) {
      timers.push(["started", milliseconds, how]);
      const callOff = byHand.after(milliseconds, action);
      return () => {
        timers.push(["cancelled", milliseconds, undefined]);
        callOff();
      };
    },
  };
  const actions: Action[] = [];
  let state: AppState = idle;
  const dispatch = (event: AppEvent): void => {
    state = after(state, event);
  };
  const press = (key: Key): void => {
    const { events, action } = routeKey(state, key);
    for (const event of events) dispatch(event);
    if (action !== undefined) actions.push(action);
    if (action?.type === "answer") dispatch({ type: "asked", key: action.question.key });
  };
  const guard = new QuestionGuard({ get: () => state, dispatch }, press, clock);
  return {
    clock,
    guard,
    dispatch,
    state: () => state,
    actions: () => actions.map(({ type }) => type),
    /** The timers that the guard started and cancelled since the last call. */
    timers: () => timers.splice(0),
    type(text: string): void {
      for (const key of readKeys(noKeys, text).keys) guard.press(key);
    },
    /** As a screen does: every frame tells which question is in it. */
    frame: () => guard.drawn(state.questions[0]?.key),
    answered: () => actions.flatMap((action) => (action.type === "answer" ? [action.question.key] : [])),
  };
}

test("a key answers a question only after it could be read, and the next one as well", () => {
  const app = open();
  for (const key of ["q1", "q2"]) app.dispatch({ type: "ask", question: confirmation(key) });
  app.frame();
  app.clock.pass(399);
  app.frame();
  expect(app.state().focus).toBe("unseen");
  app.clock.pass(1);
  app.type("y");
  app.frame();
  app.type("\u001b[27uy");
  expect([app.answered(), app.state().editor.text]).toEqual([["q1"], "y"]);
  app.type("\u007f");
  app.clock.pass(400);
  app.type("y");
  expect(app.answered()).toEqual(["q1", "q2"]);
});

test("a user who goes on typing answers nothing, however long it takes", () => {
  const app = open();
  app.dispatch({ type: "ask", question: confirmation("q1") });
  app.frame();
  for (const letter of "yes\rtya\r") {
    app.clock.pass(300);
    app.type(letter);
  }
  expect(app.answered()).toEqual([]);
  app.clock.pass(400);
  app.type("n");
  expect(app.answered()).toEqual(["q1"]);
});

test.each<[string, (app: ReturnType<typeof open>) => void]>([
  ["a pause", (app) => app.clock.pass(1000)],
  ["Enter", (app) => app.type("\r")],
  ["Escape", (app) => app.type("\u001b[27u")],
])("what is typed into a question that goes away goes nowhere until %s", (_, look) => {
  const app = open();
  app.dispatch({ type: "ask", question: clientId });
  app.frame();
  app.clock.pass(400);
  app.type("secr");
  app.dispatch({ type: "asked", key: "id" });
  app.guard.look();
  app.clock.pass(900);
  app.type("e");
  app.clock.pass(900);
  app.type("t");
  expect([app.state().editor.text, app.state().items.map(({ kind }) => kind)]).toEqual(["", ["note"]]);
  look(app);
  app.type("hello");
  expect([app.state().editor.text, app.answered()]).toEqual(["hello", []]);
});

test("a question that was answered by its key leaves the keyboard alone", () => {
  const app = open();
  app.dispatch({ type: "ask", question: clientId });
  app.frame();
  app.clock.pass(400);
  app.type("abc\rhello");
  expect([app.answered(), app.state().editor.text, app.state().items]).toEqual([["id"], "hello", []]);
});

const started = (milliseconds: number): unknown => ["started", milliseconds, { background: true }];
const cancelled = (milliseconds: number): unknown => ["cancelled", milliseconds, undefined];

test("the time to read a question starts when its first frame is written, and again with each key until it can be answered", () => {
  const app = open();
  app.type("a");
  app.frame();
  expect(app.timers()).toEqual([]);
  app.type("\u007f");
  app.dispatch({ type: "ask", question: confirmation("q1") });
  app.type("b\u007f");
  expect(app.timers()).toEqual([]);
  app.frame();
  app.frame();
  expect(app.timers()).toEqual([started(400)]);
  app.type("c");
  expect(app.timers()).toEqual([cancelled(400), started(400)]);
  app.type("\u007f");
  app.clock.pass(400);
  app.timers();
  app.type("\u001b[B");
  expect([app.state().focus, app.timers()]).toEqual(["dialog", []]);
  app.dispatch({ type: "asked", key: "q1" });
  app.frame();
  expect(app.timers()).toEqual([cancelled(400)]);
});

test("a key pressed while the prompt has the focus does not start the time to read again", () => {
  const app = open();
  app.type("a");
  app.dispatch({ type: "ask", question: confirmation("q1") });
  app.frame();
  app.clock.pass(400);
  app.timers();
  app.type("b");
  expect([app.state().focus, app.state().editor.text, app.timers()]).toEqual(["input", "ab", []]);
});

test("a key pressed before the frame of the next question is written does not start its time to read", () => {
  const app = open();
  for (const key of ["q1", "q2"]) app.dispatch({ type: "ask", question: confirmation(key) });
  app.frame();
  app.dispatch({ type: "asked", key: "q1" });
  app.timers();
  app.type("x");
  expect(app.timers()).toEqual([]);
});

test("the user is told that the typed text is lost, also if the app learns of the closed question by the next key", () => {
  const app = open();
  app.dispatch({ type: "ask", question: clientId });
  app.frame();
  app.clock.pass(400);
  app.type("secr");
  app.timers();
  app.dispatch({ type: "asked", key: "id" });
  app.type("e");
  const text = "The question has closed, and the text that you typed into it is lost. Wait a second before you type.";
  expect(app.state().items).toMatchObject([{ kind: "note", tone: "warning", text }]);
  expect([app.state().editor.text, app.timers()]).toEqual(["", [started(1000), cancelled(1000), started(1000)]]);
  app.guard.press({ name: "paste", text: "c" });
  app.type("c\u0018");
  expect([app.state().editor.text, app.state().isQuitArmed]).toEqual(["", false]);
  app.type("\u0003");
  expect([app.state().isQuitArmed, app.actions()]).toEqual([true, []]);
});

test("a question of an app that quits closes without a note", () => {
  const app = open();
  app.dispatch({ type: "ask", question: clientId });
  app.frame();
  app.clock.pass(400);
  app.type("secr");
  app.dispatch({ type: "quit" });
  app.dispatch({ type: "asked", key: "id" });
  app.guard.look();
  expect(app.state().items).toEqual([]);
});

test.each<[string, string, UserQuestion, string]>([
  ["takes no text", "", confirmation("id"), "\u001b[B"],
  ["has got no key yet", "", clientId, ""],
  ["has just got the focus by Tab", "draft", clientId, "\t"],
])("the user can type on if a question closes that %s", (_, draft, question, keys) => {
  const app = open();
  app.type(draft);
  app.dispatch({ type: "ask", question });
  app.frame();
  app.clock.pass(400);
  app.type(keys);
  expect(app.state().focus).toBe("dialog");
  app.dispatch({ type: "asked", key: "id" });
  app.guard.look();
  app.type("x");
  expect([app.state().editor.text, app.state().items]).toEqual([`${draft}x`, []]);
});

test("the guard cancels its timers at the end", () => {
  const app = open();
  app.guard.end();
  expect(app.timers()).toEqual([]);
  app.dispatch({ type: "ask", question: clientId });
  app.frame();
  app.clock.pass(400);
  app.type("s");
  app.dispatch({ type: "asked", key: "id" });
  app.guard.look();
  app.timers();
  app.guard.end();
  expect(app.timers()).toEqual([cancelled(400), cancelled(1000)]);
});
