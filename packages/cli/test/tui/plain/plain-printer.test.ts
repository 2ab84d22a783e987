import { expect, test } from "vitest";
import { PlainPrinter } from "../../../src/tui/plain/plain-printer.ts";
import type { AppEvent, AppState } from "../../../src/tui/state/app-state.ts";
import { after, call, done, idle } from "../../support/tui/app-state.ts";
import { confirmation } from "../../support/tui/samples.ts";

/** A printer whose app gets events; returns what is written at each of them. */
function printing(first: AppState = idle) {
  let state = first;
  let written = "";
  const asked: (string | undefined)[] = [];
  const printer = new PlainPrinter({
    get: () => state,
    onAsked: (key) => asked.push(key),
    write: (text) => {
      written += text;
    },
  });
  const told = (): string => {
    printer.update();
    const now = written;
    written = "";
    return now;
  };
  const on = (...events: readonly AppEvent[]): string => {
    state = after(state, ...events);
    return told();
  };
  return { on, told, asked, entered: () => printer.entered() };
}

const note = (text: string): AppEvent => ({ type: "note", tone: "info", text });
const turn = (event: Extract<AppEvent, { readonly type: "turn" }>["event"]): AppEvent => ({
  type: "turn",
  event,
  now: 1,
});
const sent: AppEvent = { type: "sent", text: "go", attachments: [], now: 0 };

test("a finished item is printed once, on lines of its own, and then the prompt", () => {
  const { on, told, entered } = printing();
  expect(told()).toBe("> ");
  expect(on(note("one"))).toBe("\none\n> ");
  expect(told()).toBe("");
  entered();
  expect(on(note("two"))).toBe("two\n> ");
});

test("a turn is announced once, a running call once, and the prompt waits for the end of the turn", () => {
  const { on, told, entered } = printing();
  told();
  entered();
  expect(on(sent)).toBe("working; press Ctrl-C to stop\n");
  expect(on(turn(call("a", "running", { args: { text: "hi" } })))).toMatch(/^s\.echo text=hi.*\n$/);
  expect(on(turn({ type: "progress", id: "a", progress: 1, total: 2 }))).toBe("");
  const end = on(turn(call("a", "ok")), turn(done));
  expect(end.split("\n").at(-1)).toBe("> ");
  expect(on(turn({ type: "waiting", servers: ["files"] }))).not.toContain("working");
});

test("what a turn waits for is printed when it changes", () => {
  const { on, told } = printing();
  told();
  on(sent);
  expect(on(turn({ type: "waiting", servers: ["files"] }))).toMatch(/files.*\n$/);
  expect(told()).toBe("");
});

test("a question is printed when it opens and when it changes, and is answered after it was seen", () => {
  const { on, told, asked } = printing();
  told();
  const question = confirmation();
  const first = on({ type: "ask", question });
  expect(first).toContain("github: run create_issue?\n");
  expect(first).toMatch(/Type one of the letters, then press Enter; an empty line means no\.\n$/);
  expect(asked.at(-1)).toBe(question.key);
  // Other news do not print the question again.
  expect(on(note("meanwhile"))).toBe("meanwhile\n");
  expect(on({ type: "drawn", key: question.key })).toBe("answer> ");
  expect(on({ type: "focus", focus: "input" })).toBe("");
  expect(on({ type: "asked", key: question.key })).toBe("");
  expect(asked.at(-1)).toBeUndefined();
});

test("the second Ctrl-C that quits is announced once, and an app that quits shows no prompt", () => {
  const { on, told } = printing();
  told();
  const armed: AppEvent = { type: "arm_quit", isArmed: true };
  expect(on(armed)).toBe("\nCtrl-C once more to quit\n> ");
  expect(on(armed)).toBe("");
  expect(on(note("bye"), { type: "quit" })).toBe("\nbye\n");
});

test("a call that waits is not printed before it runs", () => {
  const { on, told } = printing();
  told();
  on(sent);
  expect(on(turn(call("a", "queued")))).toBe("");
  expect(on(turn(call("a", "running")))).toBe("s.echo running\n");
  expect(on(turn(call("b", "requested")), turn(call("b", "running")))).toBe("s.echo running\n");
});

test("a question whose dialog changes is printed again, and so is the next question", () => {
  const { on, told } = printing();
  told();
  const title = /github: run create_issue\?/g;
  const times = (text: string): number => text.match(title)?.length ?? 0;
  const [first, second] = [confirmation(), { ...confirmation(), key: "next" }];
  expect(times(on({ type: "ask", question: first }))).toBe(1);
  expect(times(on({ type: "ask", question: second }))).toBe(0);
  expect(times(on({ type: "dialog", dialog: { key: first.key, kind: "read", scroll: 0 } }))).toBe(1);
  expect(times(on({ type: "asked", key: first.key }))).toBe(1);
  expect(times(on({ type: "asked", key: "next" }))).toBe(0);
});

test("the prompt of a user who types while a question is open is the usual one", () => {
  const editor = { text: "abc", cursor: 3, pastes: new Map(), cut: "" };
  const { on } = printing(after(idle, { type: "edit", editor }));
  const question = confirmation();
  on({ type: "ask", question });
  expect(on({ type: "drawn", key: question.key })).toBe("> ");
});
