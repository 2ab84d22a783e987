import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findProperty, parseJsonc, propertyValue } from "../../../src/files/json/jsonc.ts";
import { limits } from "../../../src/limits.ts";
import { documents } from "../../support/jsonc-documents.ts";

describe("errors are placed and worded for the person at the keyboard", () => {
  test.each([
    ['{ "a": 1,, }', 1, 10, 'a property name in double quotes, or "}", is missing'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'a "," is missing'],
    ['{\r\n  "a": tru\r\n}', 2, 8, "a word that is not JSON; text needs double quotes"],
    ['\uFEFF{"a" 1}', 1, 6, 'a ":" is missing after the property name'],
    ["\uFEFF\n{x}", 2, 2, "a word that is not JSON; text needs double quotes"],
    ['{ "a": "C:\\dir" }', 1, 8, "a backslash in text must be written twice"],
    ['{ "a": "x\n" }', 1, 8, "this text has no closing double quote"],
    ["{} {}", 1, 4, "there is more text after the end of the value"],
    ["[1, 2", 1, 6, 'a "]" is missing'],
    ["{ /* open", 1, 3, 'a comment is not closed with "*/"'],
    ['{ "é🚢": x }', 1, 10, "a word that is not JSON; text needs double quotes"],
  ])("%j", (text, line, column, message) => {
    expect(parseJsonc(text).errors[0]).toEqual({ line, column, message });
  });
});

test.each(["", " \n\t", "\uFEFF", "// only a comment", "/* one */ // two\n"])(
  "%j holds no value and no error",
  (text) => {
    const { root, errors, duplicates } = parseJsonc(text);
    expect({ root, errors, duplicates }).toEqual({ root: undefined, errors: [], duplicates: [] });
  },
);

test("comments, trailing commas and a byte order mark are no errors", () => {
  const { errors } = parseJsonc('\uFEFF// c\n{ "a": [1, /* c */ 2,], "b": {"c": null,}, }\n// c');
  expect(errors).toEqual([]);
});

test("nesting up to the limit is read, beyond it is an error at the place where it goes too far", () => {
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  expect(parseJsonc(nested(limits.settingsDepth)).errors).toEqual([]);
  const { root, errors } = parseJsonc(`{\n"a": ${nested(limits.settingsDepth)} }`);
  expect(root).toBeUndefined();
  expect(errors).toEqual([{ line: 2, column: 5 + limits.settingsDepth, message: "nested more than 64 levels deep" }]);
});

test.each([
  ["open brackets", "[".repeat(1_000_000)],
  ["open objects", '{"a":'.repeat(500_000)],
  ["commas", `[${",".repeat(200_000)}]`],
  ["quotes", '"'.repeat(200_001)],
  ["line breaks in an error", `{${"\n".repeat(500_000)}x`],
])("a million %s are an error, not a crash", (_, text) => {
  const { errors } = parseJsonc(text);
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.length).toBeLessThanOrEqual(100);
});

test("brackets in texts and comments do not count as nesting", () => {
  expect(parseJsonc(`["${"[".repeat(100)}" // ${"{".repeat(100)}\n]`).errors).toEqual([]);
});

test("duplicates are named where the overruled ones stand; the last one is in force", () => {
  const { root, duplicates } = parseJsonc('{\n  "a": 1,\n  "b": {"x": 1, "x": 2},\n  "a": 3\n}');
  expect(duplicates).toEqual([
    { name: "a", line: 2, column: 3 },
    { name: "x", line: 3, column: 9 },
  ]);
  const property = root && findProperty(root, "a");
  expect(property && propertyValue(property)?.value).toBe(3);
});

test("a property is found by its own name only", () => {
  const { root } = parseJsonc('{ "__proto__": 1, "list": [1] }');
  expect(root && findProperty(root, "toString")).toBeUndefined();
  expect(root && findProperty(root, "__proto__")).toBeDefined();
  const list = root && findProperty(root, "list");
  expect(list && findProperty(list, "0")).toBeUndefined();
});

const randomSeed = seed();
test(`every offset has the line and column that an editor shows (seed ${randomSeed})`, () => {
  fc.assert(
    fc.property(documents, fc.nat(), ({ text }, pick) => {
      const offset = pick % (text.length + 1);
      const lines = text
        .slice(0, offset)
        .replace(/^\uFEFF/, "")
        .split(/\r\n|\n|\r(?!\n)/);
      const inMark = text.startsWith("\uFEFF") && offset === 0;
      fc.pre(!inMark && text.slice(offset - 1, offset + 1) !== "\r\n");
      expect(parseJsonc(text).positionAt(offset)).toEqual({
        line: lines.length,
        column: (lines.at(-1) ?? "").length + 1,
      });
    }),
    { numRuns: scaled(10_000, 300), seed: randomSeed },
  );
});
