import { describe, expect, test } from "vitest";
import {
  createNames,
  toDocComment,
  toLiteralType,
  toMethodName,
  toPropertyKey,
  toStringLiteral,
  toTypeName,
} from "../../src/generate/source-text.ts";

test.each([
  ["plain", '"plain"'],
  ['a"b\\', String.raw`"a\"b\\"`],
  ["a\u202eb\u200b\u00a0", String.raw`"a\u202eb\u200b\u00a0"`],
  ["a\u007f", String.raw`"a\u007f"`],
  ["\u{e0041}", String.raw`"\udb40\udc41"`],
])("the text %j is the literal %s", (text, literal) => {
  expect(toStringLiteral(text)).toBe(literal);
});

test("a value that is too large or too deep is no literal", () => {
  expect(toLiteralType({ a: ["\u202e", null] })).toBe(String.raw`{"a":["\u202e",null]}`);
  expect(toLiteralType("x".repeat(1998))).toBe(`"${"x".repeat(1998)}"`);
  expect(toLiteralType("x".repeat(1999))).toBeUndefined();
  expect(toLiteralType(undefined)).toBeUndefined();
  let deep: unknown = 1;
  for (let level = 0; level < 10_000; level += 1) deep = [deep];
  expect(toLiteralType(deep)).toBeUndefined();
});

test.each([
  ["a", "a"],
  ["_$aZ9", "_$aZ9"],
  ["$", "$"],
  ["9a", '"9a"'],
  ["a-b", '"a-b"'],
  ["", '""'],
  ["ä", '"ä"'],
  ["a\n", '"a\\n"'],
])("the property %j is written as %s", (name, key) => {
  expect(toPropertyKey(name)).toBe(key);
});

test.each([
  ["create-issue", "createIssue", "CreateIssue"],
  ["create_issue", "createIssue", "CreateIssue"],
  ["CreateIssue", "createIssue", "CreateIssue"],
  ["API-search", "apiSearch", "APISearch"],
  ["search.URL", "searchURL", "SearchURL"],
  ["__a__b__", "aB", "AB"],
  ["9 lives", "_9Lives", "_9Lives"],
  ["$x", "$x", "$x"],
  ["größe", "größe", "Größe"],
  ["", "tool", "Type"],
  ["--", "tool", "Type"],
  ["then", "then_", "Then"],
  ["toJSON", "toJSON_", "ToJSON"],
  ["toString", "toString_", "ToString"],
  ["𝒳y", "𝒳y", "𝒳y"],
  [`a${"b".repeat(79)}c`, `a${"b".repeat(79)}`, `A${"b".repeat(79)}`],
])("the tool %j becomes the method %s and the type %s", (name, method, type) => {
  expect(toMethodName(name)).toBe(method);
  expect(toTypeName(name)).toBe(type);
});

test("a type's name joins the words of several names", () => {
  expect(toTypeName("", "list-all", "Arguments")).toBe("ListAllArguments");
});

test("a name that is used already gets the next free number", () => {
  const claim = createNames(["a", "a3"]);
  expect(["a", "a", "b", "b", "a3"].map(claim)).toEqual(["a2", "a4", "b", "b2", "a32"]);
  expect(createNames()("a")).toBe("a");
});

describe("a doc comment", () => {
  const long = `${"word ".repeat(21)}wordy`;
  test.each<[what: string, given: Parameters<typeof toDocComment>, lines: readonly string[]]>([
    ["nothing", [""], []],
    ["blank text", [" \n "], []],
    ["one line", [" Does it. "], ["/** Does it. */"]],
    ["facts only", ["", "minimum: 1"], ["/** [minimum: 1] */"]],
    ["text and facts on one line", ["Does it.", "minimum: 1"], ["/** Does it. [minimum: 1] */"]],
    ["a tag only", ["", "", ["@deprecated"]], ["/** @deprecated */"]],
    ["text and a tag", ["Does it.", "", ["@deprecated"]], ["/**", " * Does it.", " * @deprecated", " */"]],
    [
      "several lines, with the facts on their own",
      ["One. \n\nTwo.", "minimum: 1"],
      ["/**", " * One.", " *", " * Two.", " * [minimum: 1]", " */"],
    ],
    ["several lines without facts", ["One.\nTwo."], ["/**", " * One.", " * Two.", " */"]],
    [
      "text that looks like the end of a comment, a tag or a directive",
      ["*/ a */ @b\n  @ts-ignore", "*/"],
      ["/**", " * *\\/ a *\\/ @b", " *   \\@ts-ignore", " * [*\\/]", " */"],
    ],
    ["a control character", ["a\u001bb"], ["/** a␛b */"]],
    [
      "exactly 110 characters",
      [`${long}${"x".repeat(110 - long.length)}`],
      [`/** ${long}${"x".repeat(110 - long.length)} */`],
    ],
    [
      "a longer line is broken at the last space that fits",
      [`${"x".repeat(109)} y z`],
      ["/**", ` * ${"x".repeat(109)}`, " * y z", " */"],
    ],
    [
      "a space may stand right behind the end",
      [`${"x".repeat(110)} y`],
      ["/**", ` * ${"x".repeat(110)}`, " * y", " */"],
    ],
    ["a long word is not broken", [`${"x".repeat(111)} y`], [`/** ${"x".repeat(111)} y */`]],
    [
      "three lines from one",
      [`${"a".repeat(100)} ${"b".repeat(100)} c`],
      ["/**", ` * ${"a".repeat(100)}`, ` * ${"b".repeat(100)} c`, " */"],
    ],
  ])("of %s", (_what, given, lines) => {
    expect(toDocComment(...given)).toEqual(lines);
  });
});
