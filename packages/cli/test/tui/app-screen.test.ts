import { stripVTControlCharacters } from "node:util";
import type { Clock } from "@fairlead/core/clock";
import type { ServerState } from "@fairlead/core/events";
import { renderToString } from "ink";
import { createElement } from "react";
import { describe, expect, test } from "vitest";
import { App } from "../../src/tui/app.tsx";
import { emptyEditor, insert } from "../../src/tui/input/editor.ts";
import type { AppState } from "../../src/tui/state/app-state.ts";
import { openPanel } from "../../src/tui/state/mcp-panel.ts";
import { handClock } from "../support/hand-clock.ts";
import { after, call, done, idle, inTurn } from "../support/tui/app-state.ts";

const commits = (): { readonly keys: (string | undefined)[]; readonly onCommit: (key: string | undefined) => void } => {
  const keys: (string | undefined)[] = [];
  return { keys, onCommit: (key) => void keys.push(key) };
};

/** The first frame of the app in this state, `now` milliseconds after its start, as Ink writes it. */
function written(state: AppState, now = 0, onCommit = commits().onCommit): string {
  const clock = handClock();
  clock.pass(now);
  const store = { get: () => state, dispatch() {}, subscribe: () => () => undefined };
  const app = createElement(App, { session: { store, clock }, onCommit });
  return renderToString(app, { columns: Math.max(20, state.size.columns) });
}

/** The rows of this frame, without blanks at their ends. */
function screen(...given: Parameters<typeof written>): readonly string[] {
  return stripVTControlCharacters(written(...given))
    .split("\n")
    .map((row) => row.trimEnd());
}
const sized = (state: AppState, columns: number, rows = 24): AppState => ({ ...state, size: { columns, rows } });
const status = (state: AppState): string | undefined => screen(state).at(-1);
const lazy: ServerState = { name: "z", since: 0, status: "disconnected", reason: "lazy" };
const connecting = (name: string): ServerState => ({ name, since: 0, status: "connecting" });

const choice = { key: "q1", kind: "choice", serverName: "s", message: "Which?", options: ["a", "b"] } as const;
const asked = after(idle, { type: "ask", question: choice });
const dialog = ["╭─ s: choose one", "│ Which?", "│ (•) a", "│ ( ) b", "╰─ ↑↓ choose · Enter this one · Esc none"];
const bottom = `no servers${" ".repeat(66)}test`;

describe("the status line", () => {
  test("has the servers on the left and the model on the right, from 50 columns on", () => {
    expect(screen(sized(idle, 50))).toEqual(["›", `no servers${" ".repeat(36)}test`]);
    expect(screen(sized(idle, 49))).toEqual(["›", "no servers"]);
    expect(status({ ...sized(idle, 50), servers: [connecting("x".repeat(60))] })).toBe(
      `1 starting (${"x".repeat(31)}…  test`,
    );
  });

  test("counts the tokens of the conversation if there are any", () => {
    const used = (inputTokens: number, outputTokens: number): AppState => ({
      ...idle,
      usage: { inputTokens, outputTokens },
    });
    expect(status(used(0, 0))).toBe(bottom);
    expect(status(used(3, 0))).toMatch(/ {2}test · 3 in 0 out$/);
    expect(status(used(0, 4))).toMatch(/ {2}test · 0 in 4 out$/);
  });

  test("shows the share of the context from 120 columns on, if there is a model", () => {
    const context = { declarations: 100, history: 100, results: 0, context: 1000 };
    const words = "test · 20 % of the context: tools 100, messages 100, results 0";
    const at = (columns: number, more: Partial<AppState> = {}): string | undefined =>
      status({ ...sized(idle, columns), context, ...more });
    expect(at(120)).toBe(`no servers${" ".repeat(110 - words.length)}${words}`);
    expect(at(119)).toBe(`no servers${" ".repeat(105)}test`);
    expect(at(120, { model: { provider: "manual", name: "none" } })).toMatch(/ none$/);
    expect(at(120, { context: undefined })).toMatch(/ test$/);
  });

  test("asks for a second Ctrl-C", () => {
    expect(screen({ ...idle, isQuitArmed: true })).toEqual(["›", "Ctrl-C once more to quit (or Ctrl-D)"]);
  });
});

describe("a running turn", () => {
  const waiting = (...texts: readonly string[]): AppState =>
    texts.reduce((state, text) => after(state, { type: "wait", text }), inTurn());

  test("says what it does and for how many seconds", () => {
    const rows = (state: AppState, now: number): readonly string[] => screen(state, now);
    expect(rows(inTurn(), 0)).toEqual(["", "› go", "⠋ working, 0 s (Esc stops it)", "›", bottom]);
    expect(rows(inTurn(), 2999)[2]).toMatch(/^. working, 2 s \(Esc stops it\)$/);
    expect(rows(inTurn(), 3000)[2]).toMatch(/^. working, 3 s \(Esc stops it\)$/);
    expect(rows(inTurn({ type: "waiting", servers: ["a"] }), 0)[2]).toBe("⠋ waiting for a, 0 s (Esc stops it)");
    expect(rows(after(inTurn(), { type: "cancelling" }), 0)[2]).toBe("⠋ stopping, 0 s (Esc stops it)");
    const later = after(idle, { type: "sent", text: "go", attachments: [], now: 5000 });
    expect(rows(later, 0)[2]).toBe("⠋ working, 0 s (Esc stops it)");
  });

  test("shows the first three messages that wait for its end, each in one row", () => {
    const [, , , ...rows] = screen(waiting("one", "two\nlines", "x".repeat(99), "four"));
    expect(rows).toEqual(["queued: one", "queued: two␊lines", `queued: ${"x".repeat(71)}…`, "›", bottom]);
  });

  test("shows its calls below the text that is complete", () => {
    const state = inTurn({ type: "text", text: "Hello" }, call("a", "running"), call("b", "requested"));
    expect(screen(state)).toEqual([
      "",
      "› go",
      "",
      "Hello",
      "",
      "⠋ s.echo running",
      "",
      "○ s.echo requested",
      "⠋ working, 0 s (Esc stops it)",
      "›",
      bottom,
    ]);
    expect(screen(after(state, { type: "turn", event: done, now: 1 })).slice(4)).toEqual([
      "",
      "- s.echo cancelled",
      "",
      "- s.echo cancelled",
      "›",
      bottom,
    ]);
  });

  test("hides the oldest calls if there is no room for all", () => {
    const calls = ["a", "b", "c", "d", "e"].map((id) => call(id, "running", { serverToolName: id }));
    const named = (rows: number): readonly string[] =>
      screen(sized(inTurn(...calls), 80, rows))
        .slice(2)
        .filter((row) => row !== "");
    const ending = ["⠋ working, 0 s (Esc stops it)", "›", bottom];
    const card = (id: string): string => `⠋ s.${id} running`;
    expect(named(20)).toEqual([...["a", "b", "c", "d", "e"].map(card), ...ending]);
    expect(named(19)).toEqual(["… 1 more above", ...["b", "c", "d", "e"].map(card), ...ending]);
    expect(named(14)).toEqual(["… 2 more above", ...["c", "d", "e"].map(card), ...ending]);
    expect(named(4)).toEqual(["… 4 more above", card("e"), ...ending]);
  });

  test("shows the last rows of a long thought, and more of them on a larger screen", () => {
    const text = Array.from({ length: 40 }, (_, at) => `row ${at}`).join("\n");
    const shown = (rows: number): readonly string[] =>
      screen(sized(inTurn({ type: "thought", text }), 80, rows)).slice(3, -3);
    expect(shown(10)).toEqual(["… 37 rows above", "  row 37", "  row 38", "  row 39"]);
    expect(shown(11)).toEqual(["… 36 rows above", "  row 36", "  row 37", "  row 38", "  row 39"]);
  });
});

test("all running calls share the rows for running items equally", () => {
  const display = Array.from({ length: 40 }, (_, at) => `row ${at}`).join("\n");
  const calls = ["a", "b"].map((id) => call(id, "running", { display }));
  const state = after(inTurn(...calls), { type: "fold", id: "a" }, { type: "fold", id: "b" });
  const half = ["… 36 rows above", "  row 35", "  row 36", "  row 37", "  row 38", "  row 39"];
  expect(screen(sized(state, 80, 20)).slice(2, -3)).toEqual(["", ...half, "", ...half]);
});

test.each<[string, AppState, expected: readonly (number | string)[]]>([
  ["never without a turn", idle, []],
  ["never while all servers are ready or idle", { ...idle, servers: [lazy] }, []],
  ["every 120 ms while a turn runs", { ...inTurn(), servers: [connecting("a")] }, [0, "off", 120]],
  ["every second while a server starts", { ...idle, servers: [lazy, connecting("a")] }, [0, "off", 1000]],
])("the app is drawn again %s", (_, state, expected) => {
  const asked: (number | string)[] = [];
  const due: (() => void)[] = [];
  const clock: Clock = {
    now: () => 0,
    after(milliseconds, action, options) {
      expect(options).toEqual({ background: true });
      asked.push(milliseconds);
      due.push(action);
      return () => asked.push("off");
    },
  };
  const store = { get: () => state, dispatch() {}, subscribe: () => () => undefined };
  renderToString(createElement(App, { session: { store, clock }, onCommit: commits().onCommit }));
  due[0]?.();
  expect(asked).toEqual(expected);
});

describe("a question", () => {
  test("stands above the prompt, with a hint while the prompt has the focus", () => {
    expect(screen(asked)).toEqual([...dialog, "…", bottom]);
    expect(screen({ ...asked, focus: "input" })).toEqual([...dialog, "Tab: answer the question above.", "›", bottom]);
    expect(screen({ ...asked, focus: "dialog" })).toEqual([...dialog, "›", bottom]);
  });

  test("replaces the panel, and shows how many questions there are", () => {
    const both = after(asked, { type: "ask", question: { ...choice, key: "q2" } });
    const rows = screen({ ...both, panel: openPanel(), focus: "dialog" });
    expect(rows).toEqual(["╭─ (1 of 2) s: choose one", ...dialog.slice(1), "›", bottom]);
  });

  test("is reported to onCommit by its key", () => {
    const [before, now] = [commits(), commits()];
    screen(idle, 0, before.onCommit);
    screen(asked, 0, now.onCommit);
    expect([before.keys, now.keys]).toEqual([[undefined], ["q1"]]);
  });

  test("leaves fewer rows for running items", () => {
    const text = Array.from({ length: 40 }, (_, at) => `row ${at}`).join("\n");
    const running = sized(inTurn({ type: "thought", text }), 80, 20);
    const count = (state: AppState): number =>
      screen(state)
        .slice(2)
        .filter((row) => row.includes("row")).length;
    const question = { type: "ask", question: choice } as const;
    // The five rows of the question, and one for the hint below it.
    expect(count(running) - count(after(running, question))).toBe(6);
  });
});

test("the panel stands above the prompt", () => {
  expect(screen({ ...idle, panel: openPanel() })).toEqual([
    "╭─ MCP servers",
    "│ none",
    "╰─ ↑↓ choose · Enter open · Esc close",
    "›",
    bottom,
  ]);
});

describe("the cursor", () => {
  test.each<[string, AppState, boolean]>([
    ["an empty app", idle, true],
    ["an open panel", { ...idle, panel: openPanel() }, false],
    ["a question that the user has not seen", asked, false],
    ["a question with the focus", { ...asked, focus: "dialog" }, false],
    ["a question without the focus", { ...asked, focus: "input" }, true],
  ])("is in the prompt only if the prompt has the focus: %s", (_, state, isShown) => {
    expect(written(state).includes("\u001b[7m")).toBe(isShown);
  });
});

describe("the prompt", () => {
  const typed = (text: string, cursor = text.length): AppState => ({
    ...idle,
    editor: { ...insert(emptyEditor, text), cursor },
  });
  const letters = Array.from("abcdefghijkl").join("\n");

  test("has a sign in its first row, and shows the rows around the cursor", () => {
    expect(screen(typed("a\nb"))).toEqual(["› a", "  b", bottom]);
    expect(screen(sized(typed(letters), 80, 9))).toEqual(["  … 9 more above", "  j", "  k", "  l", bottom]);
    expect(screen(sized(typed(letters, 0), 80, 9))).toEqual(["› a", "  b", "  c", "  … 9 more below", bottom]);
    expect(screen(sized(typed(letters), 80, 2))).toEqual(["  … 11 more above", "  l", bottom]);
    expect(screen(sized(typed(letters), 80, 90))).toHaveLength(12);
  });

  test("breaks a long line inside the screen, which has at least 20 columns", () => {
    expect(screen(sized(typed("x".repeat(30)), 20))).toEqual([
      `› ${"x".repeat(18)}`,
      `  ${"x".repeat(12)}`,
      "no servers",
    ]);
    expect(screen(sized(typed("x".repeat(30)), 5))).toEqual([
      `› ${"x".repeat(18)}`,
      `  ${"x".repeat(12)}`,
      "no servers",
    ]);
  });

  test("that is long leaves fewer rows for running items", () => {
    const text = Array.from({ length: 40 }, (_, at) => `row ${at}`).join("\n");
    const running = sized(inTurn({ type: "thought", text }), 80, 30);
    const count = (prompt: string): number =>
      screen({ ...running, editor: insert(emptyEditor, prompt) }).filter((row) => row.includes("row")).length;
    const counts = ["", "\n\n", "x".repeat(78 * 2), "\n".repeat(30)].map(count);
    expect(counts).toEqual([24, 22, 22, 14]);
  });
});

test("suggestions stand below the prompt, in at most a quarter of the screen", () => {
  const suggestions = Array.from({ length: 12 }, (_, at) => ({ value: `item-${at}` }));
  const completion = { from: 0, to: 0, suggestions, selected: 0, isChosen: false };
  const rows = (height: number): readonly string[] =>
    screen(sized({ ...idle, completion }, 80, height))
      .slice(1, -1)
      .map((row) => row.trimEnd());
  const items = (count: number): readonly string[] =>
    suggestions.slice(0, count).map(({ value }, at) => `${at === 0 ? "›" : " "} ${value}`);
  expect(rows(16)).toEqual([...items(3), "  1 of 12"]);
  expect(rows(19)).toEqual([...items(3), "  1 of 12"]);
  expect(rows(4)).toEqual([...items(1), "  1 of 12"]);
  expect(rows(90)).toEqual([...items(7), "  1 of 12"]);
});

test("items that have scrolled away are not drawn again", () => {
  const notes = ["one", "two", "three"].map((text) => ({ type: "note", tone: "info", text }) as const);
  const state = { ...after(idle, ...notes), drawnFrom: 1 };
  expect(screen(state)).toEqual(["", "two", "", "three", "›", bottom]);
});
