import { expect, test } from "vitest";
import { type Action, routeKey } from "../../../src/tui/input/key-router.ts";
import { type Key, noKeys, readKeys } from "../../../src/tui/input/keys.ts";
import { createQuestionGuard } from "../../../src/tui/input/question-guard.ts";
import type { AppEvent, AppState } from "../../../src/tui/state/app-state.ts";
import type { UserQuestion } from "../../../src/tui/state/questions.ts";
import { handClock } from "../../support/hand-clock.ts";
import { after, confirmation, idle } from "../../support/tui/app-state.ts";

const clientId: UserQuestion = { key: "id", kind: "client_id", serverName: "s", issuer: "https://a", redirectUri: "b" };

/** An app whose time is moved by hand; answers are taken at once. */
function open() {
  const clock = handClock();
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
  const guard = createQuestionGuard({ get: () => state, dispatch, press, clock });
  return {
    clock,
    guard,
    dispatch,
    state: () => state,
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

test("whoever goes on typing answers nothing, however long it takes", () => {
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
