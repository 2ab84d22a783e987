import { expect, test } from "vitest";
import { editKey } from "../../../src/tui/input/edit-key.ts";
import {
  type Editor,
  emptyEditor,
  erase,
  insert,
  isLong,
  type Move,
  move,
  moveLine,
  paste,
  wholeText,
} from "../../../src/tui/input/editor.ts";
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

test.each([
  ["1000 characters", "x".repeat(1000), false],
  ["1001 characters", "x".repeat(1001), true],
  ["5 lines", lines(5), false],
  ["6 lines", lines(6), true],
])("a paste of %s is long enough for a label: %s", (_, pasted, isLabelled) => {
  expect(isLong(pasted)).toBe(isLabelled);
  expect(paste(emptyEditor, pasted).text === pasted).toBe(!isLabelled);
});

test("a label counts the lines of a paste with more than 5 lines, and the characters of any other", () => {
  const fiveLines = `${"x".repeat(1001)}${"\n".repeat(4)}`;
  expect(paste(emptyEditor, fiveLines).text).toBe("[pasted 1005 characters]");
  expect(paste(emptyEditor, `${fiveLines}\n`).text).toBe("[pasted 6 lines]");
});

test("a label gets a number if the user typed the same text or erased an earlier label with it", () => {
  const typedLabel = paste(insert(emptyEditor, "[pasted 9 lines]"), lines(9));
  expect(typedLabel.text).toBe("[pasted 9 lines][pasted 9 lines #2]");
  const erased = paste(erase(paste(emptyEditor, lines(9)), "left"), lines(9));
  expect(erased.text).toBe("[pasted 9 lines #2]");
});

test("the cursor moves over a label as over one character, wherever the label is", () => {
  const label = "[pasted 9 lines]";
  const inside = insert(paste(insert(emptyEditor, "a"), lines(9)), "b");
  const cursors = (from: Editor, where: Move): readonly number[] => {
    const first = move(from, where);
    const second = move(first, where);
    return [first, second, move(second, where), move(move(second, where), where)].map(({ cursor }) => cursor);
  };
  const end = label.length + 2;
  expect(cursors(inside, "left")).toEqual([end - 1, 1, 0, 0]);
  expect(cursors({ ...inside, cursor: 0 }, "right")).toEqual([1, end - 1, end, end]);
  const atStart = insert(paste(emptyEditor, lines(9)), "xy");
  expect(cursors(atStart, "left")).toEqual([label.length + 1, label.length, 0, 0]);
});

test.each<[string, Editor, Move, Editor]>([
  ["a character to the left is not cut", at("ab|c"), "left", at("a|c")],
  ["a character to the right is not cut", at("a|bc"), "right", at("a|c")],
  ["a word to the left is cut", at("one two|"), "word_left", { ...at("one |"), cut: "two" }],
  ["the first word is cut", at("one|"), "word_left", { ...at("|"), cut: "one" }],
  ["punctuation before a word is cut with it", at("|, two three"), "word_right", { ...at("| three"), cut: ", two" }],
  ["the start of the line is cut", at("a\nbc|d"), "line_start", { ...at("a\n|d"), cut: "bc" }],
  ["the end of the line is cut", at("a|b\nc"), "line_end", { ...at("a|\nc"), cut: "b" }],
  ["the start of the text is cut", at("a\nb|c"), "start", { ...at("|c"), cut: "a\nb" }],
  ["the end of the text is cut", at("a|\nbc"), "end", { ...at("a|"), cut: "\nbc" }],
])("%s", (_, editor, where, expected) => {
  expect(erase(editor, where)).toEqual(expected);
});

test.each<[string, -1 | 1, string | undefined]>([
  ["\nabc|", -1, "|\nabc"],
  ["\n|abc", -1, "|\nabc"],
  ["ab|c\n", 1, "abc\n|"],
  ["abc\n|", 1, undefined],
  ["|\nabc", -1, undefined],
  ["ab|c\nd", 1, "abc\nd|"],
  ["a\n|\nb", 1, "a\n\n|b"],
  ["a\n|\nb", -1, "|a\n\nb"],
  ["abc", 1, undefined],
])("in %j, the cursor moves %j line to %j", (text, by, expected) => {
  expect(moveLine(at(text), by)).toEqual(expected === undefined ? undefined : at(expected));
});

/** An editor whose cursor is at the bar. */
function at(text: string): Editor {
  const [before = "", after = ""] = text.split("|");
  return { ...emptyEditor, text: before + after, cursor: before.length };
}
