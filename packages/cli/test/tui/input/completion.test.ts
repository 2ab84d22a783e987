import { describe, expect, test } from "vitest";
import {
  type CompletionItem,
  type CompletionList,
  completionKey,
  extend,
  openCompletion,
  take,
} from "../../../src/tui/input/completion.ts";
import { emptyEditor, withText } from "../../../src/tui/input/editor.ts";
import type { Key } from "../../../src/tui/input/keys.ts";

const [first, second]: readonly CompletionItem[] = [{ value: "/mcp" }, { value: "/model" }];
const list: CompletionList = {
  from: 0,
  to: 2,
  suggestions: [first ?? { value: "" }, second ?? { value: "" }],
  selected: 0,
  isChosen: false,
};
const moved = { ...list, selected: 1, isChosen: true };

test.each<[string, CompletionList, Key, unknown]>([
  ["down selects the next", list, { name: "down" }, { kind: "move", completion: moved }],
  [
    "down after the last selects the first",
    moved,
    { name: "down" },
    { kind: "move", completion: { ...moved, selected: 0 } },
  ],
  ["up before the first selects the last", list, { name: "up" }, { kind: "move", completion: moved }],
  ["Tab takes it", list, { name: "tab" }, { kind: "take", suggestion: first }],
  ["Enter takes what was chosen", moved, { name: "enter" }, { kind: "take", suggestion: second }],
  ["Enter sends what was typed where nothing was chosen", list, { name: "enter" }, undefined],
  ["Enter with Shift starts a new line", moved, { name: "enter", shift: true }, undefined],
  [
    "Tab with Shift selects the one before",
    moved,
    { name: "tab", shift: true },
    { kind: "move", completion: { ...moved, selected: 0 } },
  ],
  ["Escape closes the list", list, { name: "escape" }, { kind: "close" }],
  ["a letter is typed", list, { name: "text", text: "x" }, undefined],
  ["an arrow with Alt is not for the list", list, { name: "down", meta: true }, undefined],
  ["an arrow with Ctrl is not for the list", list, { name: "down", ctrl: true }, undefined],
])("%s", (_, completion, key, step) => {
  expect(completionKey(completion, key)).toEqual(step);
});

describe("what is taken", () => {
  test.each<[string, string, number, CompletionItem, string, number]>([
    ["is followed by a blank", "/mc", 0, { value: "/mcp" }, "/mcp ", 5],
    ["is followed by none where the word goes on", "t na", 2, { value: "name=", isOpen: true }, "t name=", 7],
    ["leaves what stands before it", "read @no", 5, { value: "@n:x" }, "read @n:x ", 10],
  ])("%s", (_, text, from, suggestion, whole, cursor) => {
    const editor = withText(emptyEditor, text);
    const taken = take(editor, { ...list, from, to: text.length }, suggestion);
    expect([taken.text, taken.cursor]).toEqual([whole, cursor]);
  });

  test("leaves what stands behind it, and a blank that is there is not doubled", () => {
    const taken = take(withText(emptyEditor, "@no and more", 3), { ...list, to: 3 }, { value: "@notes:a" });
    expect([taken.text, taken.cursor]).toEqual(["@notes:a and more", 8]);
  });
});

test("a list of nothing, or of nothing but what is typed, is none", () => {
  expect(openCompletion("/mcp", { from: 0, to: 4, suggestions: [] })).toBeUndefined();
  expect(openCompletion("/mcp", { from: 0, to: 4, suggestions: [{ value: "/mcp" }] })).toBeUndefined();
});

test("a name with something in it that cannot be seen is not offered", () => {
  const suggestions = ["@a:x", "@a:\u202ex", "@a:x\ny", "@a:\u001b[2J", "@a:\u200bx"].map((value) => ({ value }));
  expect(openCompletion("@", { from: 0, to: 1, suggestions })?.suggestions).toEqual([{ value: "@a:x" }]);
});

test("what becomes known later is added below, once, and what is selected stays so", () => {
  const more = { from: 0, to: 2, suggestions: [{ value: "/model" }, { value: "/more" }] };
  expect(extend(moved, "/m", more)).toEqual({ ...moved, suggestions: [...list.suggestions, { value: "/more" }] });
  expect(extend(undefined, "/m", more)?.suggestions).toEqual(more.suggestions);
});

test("a new list selects its first suggestion, and Enter inserts it only if the typed text is unfinished", () => {
  const suggestions = [{ value: "/mcp" }, { value: "/model" }];
  const opened = { from: 1, to: 3, suggestions, selected: 0 };
  expect(openCompletion(" /m", { from: 1, to: 3, suggestions })).toEqual({ ...opened, isChosen: false });
  expect(openCompletion(" /m", { from: 1, to: 3, suggestions, isUnfinished: true })).toEqual({
    ...opened,
    isChosen: true,
  });
  const withTyped = [{ value: "/m" }, { value: "/mcp" }];
  expect(openCompletion(" /m", { from: 1, to: 3, suggestions: withTyped })?.suggestions).toEqual(withTyped);
});

test("a list has at most 50 suggestions, and names with invisible characters do not count", () => {
  const values = Array.from({ length: 51 }, (_, at) => ({ value: `/x${at}` }));
  const offered = [{ value: "/\u200b" }, ...values];
  expect(openCompletion("/", { from: 0, to: 1, suggestions: offered })?.suggestions).toEqual(values.slice(0, 50));
});
