import { seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCallExpression } from "../../src/arguments/call-expression.ts";

const call = (positional: readonly unknown[], named: Readonly<Record<string, unknown>> = {}) => ({
  target: "s.t",
  positional,
  named: new Map(Object.entries(named)),
});

describe("a call written as in code", () => {
  test.each([
    ["s.t()", call([])],
    ["s.t ( )", call([])],
    ["s.t(a: 1)", call([], { a: 1 })],
    ["s.t(a=1, b = 2)", call([], { a: 1, b: 2 })],
    [`s.t("x", 'y')`, call(["x", "y"])],
    ["s.t(1, b: 2,)", call([1], { b: 2 })],
    ["s.t(-1.5e3, 0, -0)", call([-1500, 0, -0])],
    ["s.t(true, false, null)", call([true, false, null])],
    ["s.t([1, [2], ], {})", call([[1, [2]], {}])],
    [`s.t(d: {k: true, "a b": 1, 'c': [null],})`, call([], { d: { k: true, "a b": 1, c: [null] } })],
    [`s.t("issue-id": 1, other-id: 2)`, call([], { "issue-id": 1, "other-id": 2 })],
    [String.raw`s.t("\n\t\"\'\\\u0041\x42\u{1F600}\q")`, call(["\n\t\"'\\AB😀q"])],
    [String.raw`s.t("\ud83d\ude00")`, call(["😀"])],
    [String.raw`s.t("\r\b\f\v\0|\u{10ffff}")`, call(["\r\b\f\v\0|\u{10ffff}"])],
    [`s.t("(not) a, 'call'")`, call(["(not) a, 'call'"])],
    ["s.t('x\n', \n y: \"a\r\nb\"\n)", call(["x\n"], { y: "a\r\nb" })],
    ["s.t(größe: 1, $x_1: 2)", call([], { größe: 1, $x_1: 2 })],
    // Not of that form.
    ["s.t", undefined],
    ["(a)", undefined],
    ["", undefined],
  ])("%s", (word, expected) => {
    expect(parseCallExpression(word)).toEqual(expected);
  });

  test("no name is special", () => {
    const parsed = parseCallExpression('s.t(__proto__: {"__proto__": 1})');
    expect(JSON.stringify(Object.fromEntries(parsed?.named ?? []))).toBe('{"__proto__":{"__proto__":1}}');
  });
});

describe("a mistake is named with its place", () => {
  test.each([
    ["s.t(", 'character 5: ")" is missing'],
    ["s.t(1", 'character 6: "," or ")" is missing'],
    ["s.t(1 2)", 'character 7: "," or ")" is missing'],
    ["s.t('it''s')", 'character 9: "," or ")" is missing'],
    ["s.t(1) ok", 'character 8: unexpected text after the closing ")"'],
    ["s.t(a: )", 'character 8: a value is missing before ")"'],
    ["s.t(a:", "character 7: a value is missing at the end"],
    ["s.t(,)", 'character 5: a value is missing before ","'],
    ["s.t(a: b)", 'character 8: "b" is not a value; write text in quotes: "b"'],
    ["s.t(undefined)", 'character 5: "undefined" is not a value; write text in quotes: "undefined"'],
    ["s.t(`x`)", 'character 5: a value is missing before "`"'],
    ["s.t('x)", "character 5: this text has no closing '"],
    ["s.t(a: 1, a: 2)", 'character 13: "a" is given twice'],
    ["s.t({a: 1, a: 2})", 'character 13: "a" is given twice'],
    ["s.t({a 1})", 'character 8: ":" is missing after "a"'],
    ["s.t({1: 2})", 'character 6: a key or "}" is missing'],
    ["s.t({a: 1; b: 2})", 'character 10: "," or "}" is missing'],
    ["s.t([1; 2])", 'character 7: "," or "]" is missing'],
    ["s.t(a: 1, 2)", "character 11: positional values must come before named values"],
    ["s.t(01)", "character 5: this is not a number; write text in quotes"],
    ["s.t(1.)", "character 5: this is not a number; write text in quotes"],
    ["s.t(5px)", "character 5: this is not a number; write text in quotes"],
    ["s.t(0x10)", "character 5: this is not a number; write text in quotes"],
    ["s.t(12345678901234567890)", "character 5: JavaScript cannot hold the number 12345678901234567890 exactly"],
    ["s.t(1e999)", "character 5: JavaScript cannot hold the number 1e999 exactly"],
    [String.raw`s.t("\u12")`, String.raw`character 7: "\u" needs a hexadecimal character code`],
    [String.raw`s.t("\x1")`, String.raw`character 7: "\x" needs a hexadecimal character code`],
    [String.raw`s.t("\u{110000}")`, "character 7: u{110000} is not a Unicode character"],
    [`s.t(${"[".repeat(70)})`, "character 70: nested more than 64 levels deep"],
  ])("%s", (word, message) => {
    expect(() => parseCallExpression(word)).toThrow(
      expect.objectContaining({ code: "arguments_invalid", message }) as Error,
    );
  });
});

const replay = { seed: seed(), numRuns: 200 };

test(`every JSON value is read as JSON reads it (FAIRLEAD_SEED=${replay.seed})`, () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (json) => {
      expect(parseCallExpression(`s.t(${json})`)?.positional).toEqual([JSON.parse(json)]);
    }),
    replay,
  );
});

test(`whatever is written, it is read or refused (FAIRLEAD_SEED=${replay.seed})`, () => {
  const pieces = fc.constantFrom(
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "=",
    '"',
    "'",
    "\\",
    "a",
    "1",
    "-",
    ".",
    " ",
    "\u{1F600}",
    "\ud800",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      try {
        parseCallExpression(`s.t(${parts.join("")}`);
      } catch (error) {
        expect(error).toMatchObject({ code: "arguments_invalid", message: expect.stringMatching(/^character \d+: /) });
      }
    }),
    replay,
  );
});
