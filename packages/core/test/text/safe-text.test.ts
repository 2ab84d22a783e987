import { expect, test } from "vitest";
import { joinSafe, safe, toSafeJson, toSafeLine, toSafeText, toVisibleLine } from "../../src/text/safe-text.ts";

/** All of Unicode, a plane's row at a time: `<a><b>…`, so that a character that swallows its neighbours shows. */
const rows = Array.from({ length: 0x110000 / 0x400 }, (_, row) => {
  const characters = Array.from({ length: 0x400 }, (_, at) => String.fromCodePoint(row * 0x400 + at));
  return {
    row: (row * 0x400).toString(16),
    text: characters
      .map((character) => `<${character}>`)
      .join("")
      .replace("<<>", "")
      .replace("<>>", ""),
  };
});
const harmful = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u;

test("no code point passes raw that a terminal would act on, hide or turn around", () => {
  const leaks = rows.filter(({ text }) => harmful.test(toSafeText(text).replace(/[\n\t]/g, "")));
  expect(leaks.map(({ row }) => row)).toEqual([]);
});

test("where a person decides, no code point disappears", () => {
  const lost = rows.filter(({ text }) => harmful.test(toVisibleLine(text)) || toVisibleLine(text).includes("<>"));
  expect(lost.map(({ row }) => row)).toEqual([]);
});

test.each([
  ["an escape sequence", "\u001b[2Jhidden", "␛[2Jhidden"],
  ["a C1 control", "a\u009b2Jb", "a⟨U+009B⟩2Jb"],
  ["a carriage return that would overwrite the line", "safe\rEVIL", "safe␍EVIL"],
  ["Windows line ends", "a\r\nb", "a\nb"],
  ["newline and tab", "a\n\tb", "a\n\tb"],
  ["a bidi override", "a\u202etxt.exe", "atxt.exe"],
  ["zero-width characters", "pay\u200bpal", "paypal"],
  ["tag characters", `a${String.fromCodePoint(0xe0041)}b`, "ab"],
  ["a lone surrogate", "a\ud800b", "a⟨U+D800⟩b"],
  ["letters of any script", "Ünïcödé 漢字 🙂", "Ünïcödé 漢字 🙂"],
])("%s is made safe to read", (_, text, expected) => {
  expect(toSafeText(text)).toBe(expected);
});

test("on one line, line breaks become pictures", () => {
  expect(toSafeLine("a\nb\tc\u200b")).toBe("a␊b␉c");
  expect(toVisibleLine("a\nb\u200bc\u001b")).toBe("a␊b⟨U+200B⟩c␛");
});

test("our words and safe parts join to safe text", () => {
  expect(safe`server "${toSafeLine("x\u001b")}" has ${3} tools`).toBe('server "x␛" has 3 tools');
  expect(joinSafe([safe`a`, safe`b`], safe`, `)).toBe("a, b");
});

test("safe JSON is the same document, and has nothing a terminal would act on", () => {
  const document = { text: rows.map(({ text }) => text).join(""), "\u202ekey": "\u001b]52;c;x\u0007" };
  const printed = toSafeJson(document, 0);
  expect(JSON.parse(printed)).toEqual(document);
  expect(harmful.test(printed)).toBe(false);
});
