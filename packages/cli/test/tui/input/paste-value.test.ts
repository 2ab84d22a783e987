import { splitWords } from "@fairlead/core/resources/prompt-arguments";
import { splitTypedLines } from "@fairlead/core/resources/typed-lines";
import { expect, test } from "vitest";
import { emptyEditor, insert, wholeText, withText } from "../../../src/tui/input/editor.ts";
import { pasteAtCursor } from "../../../src/tui/input/paste-value.ts";

const long = Array.from({ length: 21 }, (_, at) => `line ${at} "x" it's \\ =`).join("\n");

/** The words of the only line after this text was typed, `pasted` was pasted at the `|`, and `more` was typed behind it. */
function words(typed: string, pasted: string, more = ""): readonly string[] {
  const cursor = typed.indexOf("|");
  const editor = withText(emptyEditor, typed.replace("|", ""), cursor);
  const text = wholeText(insert(pasteAtCursor(editor, pasted, true), more));
  const { lines } = splitTypedLines(text);
  expect(lines).toHaveLength(1);
  return splitWords(lines[0] ?? "").map(({ text: word }) => word);
}

test.each([
  ["s.t text=|", long, "", ["s.t", `text=${long}`]],
  ["s.t text=|", "two words", " loud=true", ["s.t", "text=two words", "loud=true"]],
  ["s.t text=|", "word", "", ["s.t", "text=word"]],
  ["s.t text=ab|cd x=1", "1 2", "", ["s.t", "text=ab1 2cd", "x=1"]],
  ["s.t text:=|", '{"a":\n  "b\\n"}', "", ["s.t", 'text:={"a":\n  "b\\n"}']],
  ['s.t text="|', "a\nb", '"', ["s.t", "text=a\nb"]],
  ['s.t text="|', "a\nb", ' c" x=1', ["s.t", "text=a\nb c", "x=1"]],
  ["s.t text='one |", `two "2" it's`, " three' x=1", ["s.t", `text=one two "2" it's three`, "x=1"]],
  ['s.t text="x | y" z=1', `"q" it's\n\\`, "", ["s.t", `text=x "q" it's\n\\ y`, "z=1"]],
  ["s.t text='|'", `"q" it's\n\\`, "", ["s.t", `text="q" it's\n\\`]],
  ['s.t text="one"|', " two\nthree", "", ["s.t", "text=one two\nthree"]],
  ["s.t |", "a=1\nb=2", "", ["s.t", "a=1", "b=2"]],
  ["|", "s.t a=1", "", ["s.t", "a=1"]],
] as const)("%s with a paste", (typed, pasted, more, expected) => {
  expect(words(typed, pasted, more)).toEqual(expected);
});

test("two pastes in one value are one value, and are shown by their labels", () => {
  const once = pasteAtCursor(withText(emptyEditor, "s.t text="), long, true);
  expect(once.text).toBe('s.t text="[pasted 21 lines]"');
  const twice = pasteAtCursor(once, long, true);
  expect(twice.text).toBe('s.t text="[pasted 21 lines][pasted 21 lines #2]"');
  expect(splitWords(wholeText(twice)).map(({ text }) => text)).toEqual(["s.t", `text=${long}${long}`]);
});

test("a list of calls stays a list, and a message to a model is pasted as it is", () => {
  const calls = "s.t a=1\ns.t a=2";
  expect(splitTypedLines(pasteAtCursor(emptyEditor, calls, true).text).lines).toHaveLength(2);
  const message = withText(emptyEditor, "what is a=");
  expect(pasteAtCursor(message, "b c", false).text).toBe("what is a=b c");
  expect(pasteAtCursor(withText(emptyEditor, "s.t a="), "b c", false).text).toBe('s.t a="b c"');
  expect(pasteAtCursor(withText(emptyEditor, "/teach knot="), "b c", false).text).toBe('/teach knot="b c"');
});

test.each([
  ["s.t text='one'|", " two", "s.t text='one two'|"],
  ["s.t text='one'|", "it's", "s.t text='oneit\\'s'|"],
  ['s.t text="one"|', ' "two"', 's.t text="one \\"two\\""|'],
  ["s.t text=|", "a b", 's.t text="a b"|'],
  ["s.t text=ab|cd x=1", "1 2", 's.t text="ab1 2cd"| x=1'],
  ["s.t text=|", 'a"b', 's.t text="a\\"b"|'],
  ["s.t text=|", "word", "s.t text=word|"],
  ["s.t text='x |", "it's", "s.t text='x it\\'s|"],
  ["s.t |", "a=1\nb=2", "s.t a=1 b=2|"],
  ["s.t x/|", "a\nb", "s.t x/a b|"],
  ["s.t|", "a\nb", "s.ta\nb|"],
  ["s.t(|", "a\nb", "s.t(a\nb|"],
  ["/teach |", "a\nb", "/teach a\nb|"],
  [" /teach |", "a\nb", " /teach a\nb|"],
  ["s.t a=1\ns.t text=|", "x y", 's.t a=1\ns.t text="x y"|'],
])("the prompt %j with a paste of %j becomes %j", (typed, pasted, expected) => {
  const editor = withText(emptyEditor, typed.replace("|", ""), typed.indexOf("|"));
  const { text, cursor } = pasteAtCursor(editor, pasted, true);
  expect(`${text.slice(0, cursor)}|${text.slice(cursor)}`).toBe(expected);
});
