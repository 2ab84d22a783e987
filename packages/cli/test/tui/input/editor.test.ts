import { expect, test } from "vitest";
import { editKey } from "../../../src/tui/input/edit-key.ts";
import { type Editor, emptyEditor, insert, paste, wholeText } from "../../../src/tui/input/editor.ts";
import { addEntry, createHistory, type InputHistory } from "../../../src/tui/input/history.ts";
import { noKeys, readKeys } from "../../../src/tui/input/keys.ts";

const esc = "\u001b";
const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}`).join("\n");

/** The text with a bar for the cursor, after these keys. */
function typed(keys: string, from: Editor = emptyEditor, history: InputHistory = createHistory([])): string {
  const { editor } = press(keys, from, history);
  return `${editor.text.slice(0, editor.cursor)}|${editor.text.slice(editor.cursor)}`;
}

function press(keys: string, editor: Editor, history: InputHistory): { editor: Editor; history: InputHistory } {
  const now = { editor, history };
  for (const key of readKeys(noKeys, keys).keys) Object.assign(now, editKey(now.editor, now.history, key));
  return now;
}

test.each([
  ["letters", "abc", "abc|"],
  ["in the middle", `ac${esc}[Db`, "ab|c"],
  ["a new line by Ctrl-J", "a\nb", "a\nb|"],
  ["a new line by Alt-Enter", `a${esc}\rb`, "a\nb|"],
  ["Backspace", "abc\u007f", "ab|"],
  ["Backspace takes what a person sees as one character", "a👩‍👧‍👦\u007f", "a|"],
  ["Backspace takes a letter with its accent", "ae\u0301\u007f", "a|"],
  ["Delete", `ab${esc}[D${esc}[3~`, "a|"],
  ["nothing before the first character", `a${esc}[D${esc}[D\u007f`, "|a"],
  ["nothing behind the last one", `a${esc}[C${esc}[3~`, "a|"],
  ["a word to the left", `one two-three${esc}b`, "one two-|three"],
  ["a word to the right", `one two\u0001${esc}f`, "one| two"],
  ["Ctrl-W takes a word", "one two \u0017", "one |"],
  ["Ctrl-U takes what is before the cursor, in this line", "one\ntwo\u0015", "one\n|"],
  ["Ctrl-K takes the rest of the line", `one\ntwo${esc}[A\u0001\u000b`, "|\ntwo"],
  ["Ctrl-Y puts it back", "one two\u0017\u0001\u0019", "two|one "],
  ["Home and End in a line", `one\ntwo${esc}[Hx${esc}[Fy`, "one\nxtwoy|"],
  ["Ctrl-Home", `one\ntwo${esc}[1;5H`, "|one\ntwo"],
  ["up keeps the column", `one\ntwo${esc}[D${esc}[A`, "on|e\ntwo"],
  ["up into a shorter line", `o\ntwo${esc}[A`, "o|\ntwo"],
  ["down", `one\ntwo${esc}[A${esc}[B`, "one\ntwo|"],
])("%s", (_, keys, expected) => {
  expect(typed(keys)).toBe(expected);
});

test("a small paste is text, with its lines", () => {
  expect(typed(`a${esc}[200~b\r\nc${esc}[201~`)).toBe("ab\nc|");
});

test("a large paste stands for itself by a name, is moved over and deleted as one, and goes out whole", () => {
  const pasted = insert(paste(insert(emptyEditor, "see "), lines(300)), " and tell");
  expect(pasted.text).toBe("see [pasted 300 lines] and tell");
  expect(wholeText(pasted)).toBe(`see ${lines(300)} and tell`);
  const once = paste(emptyEditor, lines(300));
  expect(typed(`${esc}[D`, once)).toBe("|[pasted 300 lines]");
  expect(typed(`${esc}[D${esc}[C`, once)).toBe("[pasted 300 lines]|");
  expect(typed("\u007f", once)).toBe("|");
});

test("two pastes of the same size have two names; one long line is told by its characters", () => {
  const twice = paste(paste(emptyEditor, lines(9)), `${lines(8)}\nother`);
  expect(twice.text).toBe("[pasted 9 lines][pasted 9 lines #2]");
  expect(wholeText(twice)).toBe(`${lines(9)}${lines(8)}\nother`);
  expect(paste(emptyEditor, "x".repeat(5000)).text).toBe("[pasted 5000 characters]");
});

test("what is pasted may look like a name, or like a pattern, and is sent as it is", () => {
  const tricky = `$& [pasted 9 lines #2] (\n${lines(8)}`;
  const twice = paste(paste(emptyEditor, tricky), lines(9));
  expect(wholeText(twice)).toBe(tricky + lines(9));
});

test("up goes back through what was typed before, and down returns to what was being typed", () => {
  const history = createHistory(["first", "second"]);
  const up = `${esc}[A`;
  const down = `${esc}[B`;
  expect(typed(`new${up}`, emptyEditor, history)).toBe("second|");
  expect(typed(`new${up}${up}${up}`, emptyEditor, history)).toBe("first|");
  expect(typed(`new${up}${up}${down}`, emptyEditor, history)).toBe("second|");
  expect(typed(`new${up}${up}${down}${down}${down}`, emptyEditor, history)).toBe("new|");
});

test("the same line twice in a row is remembered once, and old lines are forgotten", () => {
  expect(addEntry(createHistory(["a"]), "a").entries).toEqual(["a"]);
  expect(addEntry(createHistory(["a"]), "b").entries).toEqual(["a", "b"]);
  expect(addEntry(createHistory(["a", "b"]), "a").entries).toEqual(["a", "b", "a"]);
  const many = Array.from({ length: 1200 }, (_, at) => String(at));
  expect(addEntry(createHistory(many), "last").entries).toEqual([...many.slice(-999), "last"]);
});

test("who has gone back and sends something begins again at the end", () => {
  const history = createHistory(["first", "second"]);
  const { history: walked } = press(`${esc}[A${esc}[A`, emptyEditor, history);
  expect(typed(`${esc}[A`, emptyEditor, addEntry(walked, "second"))).toBe("second|");
});
