import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { endKeys, type Key, type KeyState, noKeys, readKeys } from "../../../src/tui/input/keys.ts";

const esc = "\u001b";

const letter = (text: string): Key => ({ name: "text", text });

/** Every key of a text that comes in one piece, and what is left of it. */
function keysOf(text: string): readonly Key[] {
  const { keys, state } = readKeys(noKeys, text);
  return [...keys, ...endKeys(state).keys];
}

test.each<[string, string, readonly Key[]]>([
  ["letters are one text", "héllo 日本 👩‍👧", [{ name: "text", text: "héllo 日本 👩‍👧" }]],
  ["Enter", "ab\r", [{ name: "text", text: "ab" }, { name: "enter" }]],
  ["Ctrl-J is not Enter", "\n", [{ name: "text", text: "j", ctrl: true }]],
  ["Ctrl with a letter", "\u0003", [{ name: "text", text: "c", ctrl: true }]],
  ["Ctrl-Space", "\u0000", [{ name: "text", text: " ", ctrl: true }]],
  ["both codes of Backspace", "\u007f\b", [{ name: "backspace" }, { name: "backspace" }]],
  ["Tab and Shift-Tab", `\t${esc}[Z`, [{ name: "tab" }, { name: "tab", shift: true }]],
  ["Alt-Enter", `${esc}\r`, [{ name: "enter", meta: true }]],
  ["Alt-Backspace", `${esc}\u007f`, [{ name: "backspace", meta: true }]],
  ["Alt with a letter", `${esc}b`, [{ name: "text", text: "b", meta: true }]],
  ["Alt with a wide letter", `${esc}👍`, [{ name: "text", text: "👍", meta: true }]],
  ["Escape by itself", esc, [{ name: "escape" }]],
  ["Escape twice", esc + esc, [{ name: "escape" }, { name: "escape" }]],
  ["Alt with a bracket", `${esc}[`, [{ name: "text", text: "[", meta: true }]],
  ["arrows in both modes", `${esc}[A${esc}OB`, [{ name: "up" }, { name: "down" }]],
  ["Ctrl-arrow", `${esc}[1;5C`, [{ name: "right", ctrl: true }]],
  ["Alt-arrow", `${esc}[1;3D`, [{ name: "left", meta: true }]],
  ["Alt-arrow as Escape and arrow", `${esc}${esc}[D`, [{ name: "left", meta: true }]],
  ["Home, End", `${esc}[H${esc}[4~${esc}OF`, [{ name: "home" }, { name: "end" }, { name: "end" }]],
  ["PageUp, Delete", `${esc}[5~${esc}[3~`, [{ name: "pageup" }, { name: "delete" }]],
  ["Shift-Enter, as kitty sends it", `${esc}[13;2u`, [{ name: "enter", shift: true }]],
  ["Shift-Enter, as xterm sends it", `${esc}[27;2;13~`, [{ name: "enter", shift: true }]],
  ["Ctrl-C, as kitty sends it", `${esc}[99;5u`, [{ name: "text", text: "c", ctrl: true }]],
  ["Escape, as kitty sends it", `${esc}[27u`, [{ name: "escape" }]],
  ["a function key means nothing", `${esc}[15~a`, [{ name: "unknown" }, { name: "text", text: "a" }]],
  ["a function key of the Linux console", `${esc}[[Aa`, [{ name: "unknown" }, { name: "text", text: "a" }]],
  ["the window has the focus", `${esc}[I`, []],
  ["an answer of the terminal is no key", `${esc}]11;rgb:00/00/00\u0007a`, [{ name: "text", text: "a" }]],
  ["other answers of the terminal", `${esc}P1$r${esc}\\a${esc}_x\u0007b${esc}^y${esc}\\c`, ["a", "b", "c"].map(letter)],
  [
    "an answer that ends with either end",
    `${esc}]1\u0007a${esc}\\b`,
    [letter("a"), { ...letter("\\"), meta: true }, letter("b")],
  ],
  ["Escape before a function key", `${esc}${esc}[15~`, [{ name: "escape" }, { name: "unknown" }]],
  ["Escape before the window has the focus", `${esc}${esc}[I`, [{ name: "escape" }]],
  ["the window has lost the focus", `${esc}[O`, []],
  ["Alt-Space", `${esc} `, [{ name: "text", text: " ", meta: true }]],
  ["Alt-O", `${esc}O`, [{ name: "text", text: "O", meta: true }]],
  ["F1, and a letter that is no key", `${esc}OP${esc}[Ea`, [{ name: "unknown" }, { name: "unknown" }, letter("a")]],
  [
    "Ctrl-Space, as kitty sends it",
    `${esc}[32;5u${esc}[0u`,
    [
      { ...letter(" "), ctrl: true },
      { ...letter(" "), ctrl: true },
    ],
  ],
  ["a modifier that does not exist", `${esc}[1;0A`, [{ name: "up" }]],
  ["all modifiers", `${esc}[1;8A`, [{ name: "up", shift: true, meta: true, ctrl: true }]],
  [
    "Insert, Home and End of other terminals",
    `${esc}[2~${esc}[7~${esc}[8~`,
    [{ name: "insert" }, { name: "home" }, { name: "end" }],
  ],
  [
    "the last code point, and the first one beyond",
    `${esc}[1114111u${esc}[1114112u`,
    [letter("\u{10ffff}"), { name: "unknown" }],
  ],
  ["a code point beyond all", `${esc}[99999999u`, [{ name: "unknown" }]],
  [
    "a paste",
    `${esc}[200~a\r\nb\rc${esc}[201~d`,
    [
      { name: "paste", text: "a\nb\nc" },
      { name: "text", text: "d" },
    ],
  ],
  ["keys in a paste are text", `${esc}[200~\u0003${esc}[A${esc}[201~`, [{ name: "paste", text: `\u0003${esc}[A` }]],
  ["an empty paste", `${esc}[200~${esc}[201~`, [{ name: "paste", text: "" }]],
])("%s", (_, typed, keys) => {
  expect(keysOf(typed)).toEqual(keys);
});

test("what goes on and on is no key, and what follows it is read", () => {
  const { keys, state } = readKeys(noKeys, `${esc}[${"1;".repeat(100)}`);
  expect([keys, state]).toEqual([[{ name: "unknown" }], noKeys]);
  expect(readKeys(noKeys, `${esc}]${"x".repeat(5000)}`)).toEqual({ keys: [], state: noKeys });
});

test("an unfinished sequence is kept until it is too long", () => {
  const kept = (text: string): string => readKeys(noKeys, text).state.pending;
  for (const pending of [esc, `${esc}O`, `${esc}[`, `${esc}[[`, `${esc}[1;5`, `${esc}[1 `, `${esc}]x`])
    expect(readKeys(noKeys, `a${pending}`)).toEqual({ keys: [letter("a")], state: { pending } });
  expect(readKeys(noKeys, `${esc}[[A`)).toEqual({ keys: [{ name: "unknown" }], state: noKeys });
  const lengths = (start: string, most: number): readonly number[] =>
    [most - 1, most].map((length) => kept(start.padEnd(length, "1")).length);
  expect([lengths(`${esc}[`, 64), lengths(`${esc}]`, 4096)]).toEqual([
    [63, 0],
    [4095, 0],
  ]);
});

const ctrlC: Key = { name: "text", text: "c", ctrl: true };

test("a paste whose end is lost is what came of it, and keys are keys again", () => {
  const begun = readKeys(noKeys, `${esc}[200~half`).state;
  expect(readKeys(begun, ` of it${esc}[201~`).keys).toEqual([{ name: "paste", text: "half of it" }]);
  expect(readKeys(begun, `x${esc}[20`)).toEqual({ keys: [], state: { pending: `${esc}[20`, paste: "halfx" } });
  const ended = endKeys(begun);
  expect(ended.keys).toEqual([{ name: "paste", text: "half" }]);
  expect(readKeys(ended.state, "\r").keys).toEqual([{ name: "enter" }]);
  const left = readKeys(begun, esc);
  expect([...left.keys, ...endKeys(left.state).keys]).toEqual([{ name: "paste", text: "half" }, { name: "escape" }]);
  expect(readKeys(begun, "\u0003").keys).toEqual([{ name: "paste", text: "half" }, ctrlC]);
});

test("the rest of a paste that comes too late is pasted all the same: its line breaks send nothing", () => {
  const { state } = endKeys(readKeys(noKeys, `${esc}[200~half`).state);
  expect(readKeys(state, `a\rb\r${esc}[201~c`)).toEqual({
    keys: [
      { name: "paste", text: "a\nb\n" },
      { name: "text", text: "c" },
    ],
    state: noKeys,
  });
  const pastes = `${esc}[200~x${esc}[201~${esc}[200~y${esc}[201~`;
  expect(readKeys(state, pastes).keys).toEqual([
    { name: "paste", text: "x" },
    { name: "paste", text: "y" },
  ]);
  expect(readKeys(state, `${esc}[200~x`)).toEqual({ keys: [], state: { pending: "", paste: "x" } });
  expect(endKeys(readKeys(state, esc).state)).toEqual({ keys: [{ name: "escape" }], state });
  const typed = readKeys(state, "a\r").state;
  expect(readKeys(typed, `${esc}[201~`)).toEqual({ keys: [], state: noKeys });
  expect(readKeys(typed, `${esc}[200~x${esc}[201~`)).toEqual({ keys: [{ name: "paste", text: "x" }], state: noKeys });
});

/** Text that was cut, together again. */
function joined(keys: readonly Key[]): readonly Key[] {
  const isPlain = ({ name, ctrl, meta }: Key): boolean => name === "text" && !ctrl && !meta;
  const all: Key[] = [];
  for (const key of keys) {
    const last = all.at(-1);
    if (last === undefined || !isPlain(last) || !isPlain(key)) all.push(key);
    else all[all.length - 1] = { name: "text", text: `${last.text}${key.text}` };
  }
  return all;
}

const piecesToCut = [
  "a",
  "日",
  "\r",
  "\u0003",
  "\t",
  "\u007f",
  `${esc}[A`,
  `${esc}[1;5C`,
  `${esc}OH`,
  `${esc}b`,
  `${esc}\r`,
  `${esc}[13;2u`,
  `${esc}[200~one\rtwo ${esc}[A${esc}[201~`,
  `${esc}[200~${esc}[20${esc}[201~`,
];

test("wherever the stream is cut, the keys are the same", () => {
  const pieces = fc.constantFrom(...piecesToCut);
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), fc.array(fc.nat(7), { minLength: 1 }), (parts, cuts) => {
      const text = parts.join("");
      let state: KeyState = noKeys;
      const keys: Key[] = [];
      for (let at = 0, turn = 0; at < text.length; turn++) {
        const size = 1 + (cuts[turn % cuts.length] ?? 0);
        const read = readKeys(state, text.slice(at, at + size));
        keys.push(...read.keys);
        ({ state } = read);
        at += size;
      }
      expect(joined(keys)).toEqual(joined(readKeys(noKeys, text).keys));
      expect(state).toEqual(noKeys);
    }),
    { seed: seed(), numRuns: scaled(5000) },
  );
});

test.each<[string, string, readonly Key[]]>([
  ["Home and PageDown of other terminals", `${esc}[1~${esc}[6~`, [{ name: "home" }, { name: "pagedown" }]],
  ["Enter and Tab of the keypad", `${esc}OM${esc}OZ`, [{ name: "enter" }, { name: "tab" }]],
  [
    "control characters above ASCII",
    "\u0080\u009f\u00a0",
    [{ name: "unknown" }, { name: "unknown" }, letter("\u00a0")],
  ],
  ["a code without a number", `${esc}[u${esc}[27;2;?~`, [{ name: "unknown" }, { name: "unknown" }]],
  ["a sequence that never ends", `${esc}[1;5`, [{ name: "unknown" }]],
  ["Ctrl with a sign", "\u001c\u001f", ["\\", "_"].map((text) => ({ name: "text", text, ctrl: true }))],
  ["Alt with Ctrl and a letter", `${esc}\u0001`, [{ name: "text", text: "a", ctrl: true, meta: true }]],
])("%s", (_, typed, keys) => {
  expect(keysOf(typed)).toEqual(keys);
});

test("after an unfinished paste, the text up to the first end marker is pasted", () => {
  const { state } = endKeys(readKeys(noKeys, `${esc}[200~half`).state);
  expect(readKeys(state, `a${esc}[201~b${esc}[201~c`).keys).toEqual([
    { name: "paste", text: "a" },
    letter("b"),
    { name: "unknown" },
    letter("c"),
  ]);
});
