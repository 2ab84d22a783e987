import { expect, test } from "vitest";
import { editKey, editLine } from "../../../src/tui/input/edit-key.ts";
import { emptyEditor, withText } from "../../../src/tui/input/editor.ts";
import { createHistory } from "../../../src/tui/input/history.ts";
import type { Key } from "../../../src/tui/input/keys.ts";

/** The prompt `one two|three\nfour`, with the cursor at the bar; `cut` was erased before. */
const editor = { ...withText(emptyEditor, "one twothree\nfour", 7), cut: "cut" };
const history = createHistory(["earlier"]);
const ctrl = (text: string): Key => ({ name: "text", text, ctrl: true });
const alt = (text: string): Key => ({ name: "text", text, meta: true });

function after(key: Key): string | undefined {
  const edited = editKey(editor, history, key)?.editor;
  return edited && `${edited.text.slice(0, edited.cursor)}|${edited.text.slice(edited.cursor)}`;
}

test.each<readonly [string, Key, string | undefined]>([
  ["a letter", { name: "text", text: "x" }, "one twox|three\nfour"],
  ["a paste", { name: "paste", text: "x y" }, "one twox y|three\nfour"],
  ["an empty paste", { name: "paste" }, "one two|three\nfour"],
  ["Enter", { name: "enter" }, "one two\n|three\nfour"],
  ["Backspace", { name: "backspace" }, "one tw|three\nfour"],
  ["Ctrl+Backspace", { name: "backspace", ctrl: true }, "one |three\nfour"],
  ["Alt+Backspace", { name: "backspace", meta: true }, "one |three\nfour"],
  ["Delete", { name: "delete" }, "one two|hree\nfour"],
  ["Ctrl+Delete", { name: "delete", ctrl: true }, "one two|\nfour"],
  ["Left", { name: "left" }, "one tw|othree\nfour"],
  ["Alt+Left", { name: "left", meta: true }, "one |twothree\nfour"],
  ["Right", { name: "right" }, "one twot|hree\nfour"],
  ["Ctrl+Right", { name: "right", ctrl: true }, "one twothree|\nfour"],
  ["Home", { name: "home" }, "|one twothree\nfour"],
  ["Ctrl+Home", { name: "home", ctrl: true }, "|one twothree\nfour"],
  ["End", { name: "end" }, "one twothree|\nfour"],
  ["Ctrl+End", { name: "end", ctrl: true }, "one twothree\nfour|"],
  ["Up in the first line", { name: "up" }, "earlier|"],
  ["Down", { name: "down" }, "one twothree\nfour|"],
  ["Ctrl+A", ctrl("a"), "|one twothree\nfour"],
  ["Ctrl+E", ctrl("e"), "one twothree|\nfour"],
  ["Ctrl+B", ctrl("b"), "one tw|othree\nfour"],
  ["Ctrl+F", ctrl("f"), "one twot|hree\nfour"],
  ["Ctrl+D", ctrl("d"), "one two|hree\nfour"],
  ["Ctrl+K", ctrl("k"), "one two|\nfour"],
  ["Ctrl+U", ctrl("u"), "|three\nfour"],
  ["Ctrl+W", ctrl("w"), "one |three\nfour"],
  ["Ctrl+J", ctrl("j"), "one two\n|three\nfour"],
  ["Ctrl+Y", ctrl("y"), "one twocut|three\nfour"],
  ["Ctrl+P in the first line", ctrl("p"), "earlier|"],
  ["Ctrl+N", ctrl("n"), "one twothree\nfour|"],
  ["Ctrl+X", ctrl("x"), undefined],
  ["Alt+B", alt("b"), "one |twothree\nfour"],
  ["Alt+F", alt("f"), "one twothree|\nfour"],
  ["Alt+D", alt("d"), "one two|\nfour"],
  ["Alt+Y", alt("y"), undefined],
  ["Tab", { name: "tab" }, undefined],
  ["Escape", { name: "escape" }, undefined],
  ["Page Up", { name: "pageup" }, undefined],
])("%s", (_, key, prompt) => {
  expect(after(key)).toBe(prompt);
});

test("a key that goes to an earlier prompt also returns the new position in the history", () => {
  const edited = editKey(editor, history, { name: "up" });
  expect(edited?.history).not.toEqual(history);
  expect(edited?.history && editKey(edited.editor, edited.history, { name: "down" })?.editor.text).toBe(editor.text);
  expect(editKey(editor, history, { name: "left" })?.history).toBeUndefined();
});

test("a text field of a form has no history, and a key without effect leaves it unchanged", () => {
  expect(editLine(editor, { name: "up" })).toBe(editor);
  expect(editLine(editor, { name: "tab" })).toBe(editor);
  expect(editLine(editor, { name: "text", text: "x" }).text).toBe("one twoxthree\nfour");
});
