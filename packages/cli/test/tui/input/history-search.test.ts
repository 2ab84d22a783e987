import { describe, expect, test } from "vitest";
import { emptyEditor, insert } from "../../../src/tui/input/editor.ts";
import { createHistory } from "../../../src/tui/input/history.ts";
import { routeKey } from "../../../src/tui/input/key-router.ts";
import type { Key } from "../../../src/tui/input/keys.ts";
import type { AppState } from "../../../src/tui/state/app-state.ts";
import { reduce } from "../../../src/tui/state/reduce.ts";
import { idle } from "../../support/tui/app-state.ts";

const entries = ["demo.greet name=Ada", "/tools", "demo.greet name=Bo", "demo.greet name=Bo", "What is new?"];
const start: AppState = { ...idle, history: createHistory(entries), editor: insert(emptyEditor, "draft") };
const ctrl = (text: string): Key => ({ name: "text", text, ctrl: true });
const letters = (text: string): readonly Key[] => Array.from(text, (each) => ({ name: "text", text: each }));

/** Presses the keys one after the other. `sent`: what was submitted. */
function press(...keys: readonly Key[]) {
  let state = start;
  const sent: string[] = [];
  for (const key of keys) {
    const { events, action } = routeKey(state, key);
    state = events.reduce(reduce, state);
    if (action?.type === "submit") sent.push(action.text);
  }
  const { search, editor } = state;
  return { text: editor.text, sent, search: search && { query: search.query, isFound: search.isFound } };
}

test("Ctrl-R opens a search that keeps the prompt until something is typed", () => {
  expect(press(ctrl("r"))).toEqual({ text: "draft", sent: [], search: { query: "", isFound: true } });
});

test("the newest entry that contains the typed text is shown, and Ctrl-R shows an older one that differs", () => {
  const search = { query: "greet", isFound: true };
  const typed = [ctrl("r"), ...letters("greet")];
  expect(press(...typed)).toEqual({ text: "demo.greet name=Bo", sent: [], search });
  expect(press(...typed, ctrl("r"))).toEqual({ text: "demo.greet name=Ada", sent: [], search });
});

test("without an older match the prompt keeps the last one; Backspace searches again from the newest", () => {
  const typed = [ctrl("r"), ...letters("ada"), ctrl("r")];
  expect(press(...typed)).toEqual({
    text: "demo.greet name=Ada",
    sent: [],
    search: { query: "ada", isFound: false },
  });
  expect(press(...typed, { name: "backspace" }).text).toBe("demo.greet name=Ada");
  const back: readonly Key[] = Array(3).fill({ name: "backspace" });
  expect(press(...typed, ...back)).toEqual({ text: "draft", sent: [], search: { query: "", isFound: true } });
});

test.each([
  ["what", true],
  ["What", true],
  ["WHAT", false],
])("a query without capitals finds both cases: %s", (query, isFound) => {
  expect(press(ctrl("r"), ...letters(query)).search).toEqual({ query, isFound });
});

describe("a search ends", () => {
  const found = [ctrl("r"), ...letters("tool")];

  test("with Enter, which sends the entry", () => {
    expect(press(...found, { name: "enter" })).toEqual({ text: "", sent: ["/tools"], search: undefined });
  });

  test.each<[Key]>([[{ name: "right" }], [{ name: "end" }], [ctrl("e")], [{ name: "tab" }]])(
    "with %o, which leaves the entry in the prompt",
    (key) => {
      expect(press(...found, key)).toEqual({ text: "/tools", sent: [], search: undefined });
    },
  );

  test.each<[Key]>([[{ name: "escape" }], [ctrl("c")], [ctrl("g")]])("with %o, as if it had not begun", (key) => {
    expect(press(...found, key)).toEqual({ text: "draft", sent: [], search: undefined });
  });

  test("with another key, which then works as usual", () => {
    expect(press(...found, ctrl("u"))).toEqual({ text: "", sent: [], search: undefined });
  });
});
