import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toModelText } from "../../src/text/model-text.ts";
import {
  joinSafe,
  padSafe,
  repeatSafe,
  replaceSafe,
  safe,
  sliceSafe,
  splitSafe,
  toSafeJson,
  toSafeLine,
  toSafeText,
  toVisibleLine,
} from "../../src/text/safe-text.ts";
import { anyCharacter } from "../support/any-character.ts";

const harmful = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u;

test.each([
  ["an escape sequence", "\u001b[2Jhidden", "␛[2Jhidden"],
  ["a C1 control", "a\u009b2Jb", "a⟨U+009B⟩2Jb"],
  ["a carriage return that would overwrite the line", "safe\rEVIL", "safe␍EVIL"],
  ["Windows line ends", "a\r\nb", "a\nb"],
  ["Windows line ends, twice", "a\r\nb\r\nc", "a\nb\nc"],
  ["newline and tab", "a\n\tb", "a\n\tb"],
  ["a bidi override", "a\u202etxt.exe", "atxt.exe"],
  ["zero-width characters", "pay\u200bpal", "paypal"],
  ["tag characters", `a${String.fromCodePoint(0xe0041)}b`, "ab"],
  ["a lone surrogate", "a\ud800b", "a⟨U+D800⟩b"],
  ["the first and the last control", "\0\u001f", "␀␟"],
  ["the delete character", "a\u007fb", "a␡b"],
  ["tabs and line breaks beside a control", "\t\n\u0007", "\t\n␇"],
  ["letters of any script", "Ünïcödé 漢字 🙂", "Ünïcödé 漢字 🙂"],
])("%s is made safe to read", (_, text, expected) => {
  expect(toSafeText(text)).toBe(expected);
});

test.each([
  ["a family of emoji joined by zero-width characters", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}", "👨👩👧"],
  ["an emoji with a variation selector", "\u2764\ufe0f", "❤"],
  ["a keycap", "1\ufe0f\u20e3", "1\u20e3"],
  ["a flag", "🇩🇪", "🇩🇪"],
  ["letters with a few marks", "Việt ngữ שָׁלוֹם ไม้", "Việt ngữ שָׁלוֹם ไม้"],
  ["Arabic with a joiner", "می\u200cخواهم", "میخواهم"],
])("%s stays legible", (_, text, expected) => {
  expect(toSafeText(text)).toBe(expected);
});

test.each([
  ["eight marks on a letter", `a${"\u0301".repeat(8)}b`, `a${"\u0301".repeat(8)}b`],
  ["more marks than any script needs", `a${"\u0301".repeat(1008)}b`, `a${"\u0301".repeat(8)}⟨+1000 marks⟩b`],
  ["a mark that would sit on what we print before it", "\u0336name", "◌\u0336name"],
  ["a mark that begins a line", "a\n\u0336b", "a\n◌\u0336b"],
  ["marks that begin several lines", "\u0336a\n\u0336b\t\u0336", "◌\u0336a\n◌\u0336b\t◌\u0336"],
  [
    "one mark too many on two letters",
    `${`a${"\u0301".repeat(9)}`.repeat(2)}`,
    `${`a${"\u0301".repeat(8)}⟨+1 marks⟩`.repeat(2)}`,
  ],
])("%s cannot spoil what is around it", (_, text, expected) => {
  expect(toSafeText(text)).toBe(expected);
});

test.each([
  ["a Cyrillic letter in a Latin word", "p\u0430ypal", "p⟨U+0430⟩ypal"],
  ["a Greek letter in a Latin word", "g\u03bfogle", "g⟨U+03BF⟩ogle"],
  ["the same with an invisible character between", "p\u200b\u0430l", "p⟨U+200B⟩⟨U+0430⟩l"],
  ["a whole word of another alphabet", "файл.txt", "файл.txt"],
  ["Latin beside Japanese, Chinese and Korean", "Node版 TypeScriptで API키", "Node版 TypeScriptで API키"],
  ["accents and a sharp s", "größe naïve", "größe naïve"],
  ["a space that parts no words", "rm\u00a0-rf", "rm⟨U+00A0⟩-rf"],
  ["a wide space", "a\u3000b", "a⟨U+3000⟩b"],
  ["three rows of spaces", `a${" ".repeat(240)}b`, `a${" ".repeat(240)}b`],
  ["so many spaces that the rest is out of sight", `ls${" ".repeat(10_000)}; rm`, "ls ⟨×10000⟩; rm"],
  ["one space more", `a${" ".repeat(241)}b`, "a ⟨×241⟩b"],
  ["so many tabs, twice", `${"\t".repeat(300)}a${"\t".repeat(300)}`, "␉⟨×300⟩a␉⟨×300⟩"],
  ["two Cyrillic letters in two Latin words", "p\u0430y p\u0430\u0435l", "p⟨U+0430⟩y p⟨U+0430⟩⟨U+0435⟩l"],
  ["so many line breaks", `ls${"\n".repeat(1000)}rm`, "ls␊⟨×1000⟩rm"],
  ["so many invisible characters", `a${"\u200b".repeat(500)}b`, "a⟨U+200B⟩⟨×500⟩b"],
])("where a person decides, %s is shown for what it is", (_, text, expected) => {
  expect(toVisibleLine(text)).toBe(expected);
});

test("what is visible already stays as it is", () => {
  const texts = ["p\u0430y\u200b\n\u001b", `a${" ".repeat(500)}b`, "\u0336x", "a\u0301".repeat(20)];
  for (const text of texts) expect(toVisibleLine(toVisibleLine(text))).toBe(toVisibleLine(text));
});

describe("whatever escape sequences a server makes up", () => {
  const introducer = fc.constantFrom(
    "\u001b",
    "\u001b[",
    "\u001b]",
    "\u001bP",
    "\u001b_",
    "\u001b^",
    "\u009b",
    "\u009d",
    "\u0090",
  );
  const body = fc.string({
    unit: fc.constantFrom(...Array.from("0123456789;:?<=>!\"$ 'abcdefhlmnpqrsuABCDHJKSTHhttps/")),
    maxLength: 20,
  });
  const end = fc.constantFrom("m", "J", "H", "\u0007", "\u001b\\", "\u009c", "\r", "\b", "\u000e", "");
  const piece = fc.oneof(
    fc.tuple(introducer, body, end).map((parts) => parts.join("")),
    fc.string({ unit: anyCharacter, maxLength: 10 }),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  const options = { numRuns: scaled(20_000, 600), seed: seed() };

  test("none reaches the terminal", () => {
    fc.assert(
      fc.property(text, (given) => {
        expect(toSafeText(given).replaceAll(/[\n\t]/g, "")).not.toMatch(harmful);
        for (const line of [toSafeLine(given), toVisibleLine(given)]) expect(line).not.toMatch(harmful);
        expect(toSafeJson({ given }, 0)).not.toMatch(harmful);
        expect(JSON.parse(toSafeJson({ given }))).toEqual({ given });
      }),
      options,
    );
  });

  test("a model is left with the words alone", () => {
    fc.assert(
      fc.property(text, (given) => {
        expect(toModelText(given)).not.toMatch(/(?![\n\r\t])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u);
      }),
      options,
    );
  });
});

test("on one line, line breaks become pictures", () => {
  expect(toSafeLine("a\nb\tc\u200b")).toBe("a␊b␉c");
  expect(toVisibleLine("a\nb\u200bc\u001b")).toBe("a␊b⟨U+200B⟩c␛");
});

test("our words and safe parts join to safe text", () => {
  expect(safe`server "${toSafeLine("x\u001b")}" has ${3} tools`).toBe('server "x␛" has 3 tools');
  expect(joinSafe([safe`a`, safe`b`], safe`, `)).toBe("a, b");
});

test("what is taken from safe text is safe text", () => {
  expect(joinSafe([safe`a`, safe`b`])).toBe("a\nb");
  expect(splitSafe(safe`a\nb\nc`)).toEqual(["a", "b", "c"]);
  expect(splitSafe(safe`a, b`, ", ")).toEqual(["a", "b"]);
  expect([sliceSafe(safe`abcd`, 1), sliceSafe(safe`abcd`, 1, -1)]).toEqual(["bcd", "bc"]);
  expect([padSafe(safe`ab`, 4), padSafe(safe`ab`, 1)]).toEqual(["ab  ", "ab"]);
  expect([2, 0, -1].map((count) => repeatSafe(safe`ab`, count))).toEqual(["abab", "", ""]);
  expect(replaceSafe(safe`a-b-c`, /-/g, () => safe`+`)).toBe("a+b+c");
});

test("JSON is indented, and what cannot be seen in it is escaped unit by unit", () => {
  const tag = String.fromCodePoint(0xe0041);
  expect(toSafeJson({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(toSafeJson({ a: [1] }, 0)).toBe('{"a":[1]}');
  expect(toSafeJson([`\u200b${tag}\u007fü\u200b`])).toBe('[\n  "\\u200b\\udb40\\udc41\\u007fü\\u200b"\n]');
});
