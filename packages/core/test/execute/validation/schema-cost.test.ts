import type { JsonObject } from "@fairlead/wire";
import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import { costOf, isBounded, measure, patternWeight } from "../../../src/execute/validation/schema-cost.ts";
import { doubling, twiceRecursive, unions } from "../../support/schema-bombs.ts";

describe("a schema has a bound", () => {
  const item = { type: "string" };
  test.each<[string, JsonObject, object]>([
    ["when it is empty", {}, { unfolded: 1, perCharacter: 0, pairings: 0 }],
    ["when it is plain", { properties: { a: item } }, { unfolded: 4, perCharacter: 0, pairings: 0 }],
    [
      "with its references written out",
      { allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }], $defs: { a: item } },
      { unfolded: 11, perCharacter: 0, pairings: 0 },
    ],
    ["with its values", { enum: Array.from({ length: 400 }, () => 0) }, { unfolded: 402 }],
    ["with its patterns", { pattern: "ab", patternProperties: { abc: true } }, { perCharacter: 7 }],
    ["with its comparisons", { uniqueItems: true, items: { uniqueItems: true } }, { pairings: 2 }],
    ["when a property has the name of a keyword", { properties: { $id: item, $ref: item } }, { pairings: 0 }],
  ])("%s", (_, schema, cost) => {
    expect(costOf(schema)).toMatchObject(cost);
  });

  test("a small schema that unfolds into a large one is not small", () => {
    expect(costOf(doubling(20))?.unfolded).toBeGreaterThan(2 ** 20);
  });

  test.each<[string, JsonObject]>([
    ["recursion", { items: { $ref: "#" } }],
    [
      "recursion in two steps",
      { $ref: "#/$defs/a", $defs: { a: { items: { $ref: "#/$defs/b" } }, b: { not: { $ref: "#/$defs/a" } } } },
    ],
    ["a name", { $defs: { a: { $anchor: "a" } } }],
    ["a reference by name", { $dynamicRef: "#a" }],
    ["a reference of 2019", { $recursiveRef: "#" }],
    ["a very long name of its own", { $id: "a".repeat(2000) }],
    ["size", { anyOf: Array.from({ length: 200 }, (_, at) => ({ const: at })) }],
    ["a large pattern", { pattern: "(?:ab){900}" }],
    ["depth", JSON.parse(`${'{"not":'.repeat(40)}{}${"}".repeat(40)}`)],
  ])("or none, because of %s", (_, schema) => {
    expect(costOf(schema)).toBeUndefined();
  });
});

describe("as much as may be has a bound, and a little more has none", () => {
  const nots = (depth: number): JsonObject => JSON.parse(`${'{"not":'.repeat(depth)}{}${"}".repeat(depth)}`);
  const members = (count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
  test.each<[string, (size: number) => JsonObject, number]>([
    ["levels", nots, 32],
    ["nodes", (size) => members(size - 1), 300],
    ["characters of its own name", (size) => ({ $id: "a".repeat(size) }), 1000],
    ["steps of its patterns", (size) => ({ pattern: "a".repeat(size - 1) }), 1000],
  ])("%s", (_, make, most) => {
    expect(costOf(make(most))).toBeDefined();
    expect(costOf(make(most + 1))).toBeUndefined();
  });

  test("work", () => {
    expect(isBounded(costOf({}), { nodes: 125_000, characters: 0 })).toBe(true);
    expect(isBounded(costOf({}), { nodes: 125_001, characters: 0 })).toBe(false);
    expect(isBounded(costOf({ pattern: "abcd" }), { nodes: 0, characters: 100_000 })).toBe(true);
    expect(isBounded(costOf({ pattern: "abcd" }), { nodes: 0, characters: 100_001 })).toBe(false);
  });

  test("what two places share is counted in both", () => {
    const shared = { pattern: "ab", uniqueItems: true, minLength: 1 };
    expect(costOf({ allOf: [shared, shared] })).toEqual({ unfolded: 10, perCharacter: 6.2, pairings: 2 });
  });

  test("a word that is not a text, or stands elsewhere, names nothing", () => {
    expect(costOf({ $id: 7, uniqueItems: false, pattern: 7, patternProperties: null })).toEqual({
      unfolded: 5,
      perCharacter: 0,
      pairings: 0,
    });
    expect(costOf({ properties: { a: { $id: "a" } } })).toBeUndefined();
  });
});

test.each<[string, JsonObject, unknown, boolean]>([
  [
    "a usual call",
    { properties: { path: { type: "string", minLength: 1 } }, required: ["path"] },
    { path: "/a" },
    true,
  ],
  ["a long text", { properties: { text: { type: "string" } } }, { text: "x".repeat(5_000_000) }, true],
  ["a long text with a pattern", { properties: { text: { pattern: "^(a+)+$" } } }, { text: "x".repeat(50_000) }, true],
  [
    "a very long text with a pattern",
    { properties: { text: { pattern: "^(a+)+$" } } },
    { text: "x".repeat(500_000) },
    false,
  ],
  ["a long list", { items: { type: "number" } }, Array.from({ length: 10_000 }, () => 1), true],
  ["a very long list", { items: { type: "number" } }, Array.from({ length: 100_000 }, () => 1), false],
  ["a long list of unique items", { uniqueItems: true }, Array.from({ length: 10_000 }, () => 1), false],
  ["a few short texts that must be unique", { uniqueItems: true }, Array.from({ length: 100 }, String), true],
  [
    "long texts that must be unique",
    { uniqueItems: true },
    Array.from({ length: 100 }, (_, at) => "x".repeat(50_000) + at),
    false,
  ],
  ["a long text with a length", { maxLength: 9 }, "x".repeat(1_000_000), true],
  ["a very long text with a length", { maxLength: 9 }, "x".repeat(6_000_000), false],
  ["references that double", doubling(20), "x", false],
  ["unions of unions", unions(6, 6), 1, false],
  ["recursion", twiceRecursive, [], false],
])("where it is validated: %s", (_, schema, value, onMainThread) => {
  const size = measure(value, { nodes: 1_000_000, characters: 10_000_000 });
  expect(size !== undefined && isBounded(costOf(schema), size)).toBe(onMainThread);
});

test.each<[string, number]>([
  ["", 1],
  ["ab", 3],
  ["a{3}", 4],
  ["a{0}", 2],
  ["a{0,3}", 7],
  ["a{2,}", 5],
  ["a{2,4}", 7],
  ["{3}", 1],
  ["a{,3}", 6],
  ["(ab)", 5],
  ["(ab){2}", 9],
  ["(ab", 3],
  ["ab)", 4],
  ["[abc]", 3],
  ["[a\\]b]c", 4],
  ["[abc", 3],
  ["\\(a", 3],
  ["a\\", 3],
  ["\\{3}", 4],
  ["\\d", 2],
  ["\\[abc", 5],
  ["a(b){3}", 11],
])("the weight of %s is %i", (pattern, weight) => {
  expect(patternWeight(pattern)).toBe(weight);
});

test.each([
  "",
  "^(a+)+$",
  "a{3}",
  "(ab|cd){10,20}",
  "((a{2}){3}){4,}",
  "[a-z]{8}-[a-z]{4}",
  "[\\]a]{5}",
  "\\d{4}-\\d{2}-\\d{2}",
  "(?:a?){100}a{100}",
  "\\({3}",
  "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
])("the weight of %s covers its compiled size", (pattern) => {
  // Two instructions are the same for every pattern.
  const size = RE2JS.compile(pattern).programSize() - 2;
  expect(patternWeight(pattern)).toBeGreaterThanOrEqual(size);
  expect(patternWeight(pattern)).toBeLessThanOrEqual(3 * size + 10);
});

test.each(["$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor", "$id"])(
  "a schema with %s inside is not checked on the main thread",
  (keyword) => {
    expect(costOf({ properties: { a: { [keyword]: "#a" } } })).toBeUndefined();
    expect(costOf({ properties: { [keyword]: { type: "string" } } })).toBeDefined();
  },
);

test.each([
  ["[\\]]a", 4],
  ["[]a", 4],
  ["[a", 3],
  ["[", 3],
  ["\\(a", 3],
  ["(a)b", 5],
])("the pattern %s has the weight %i", (pattern, weight) => {
  expect(patternWeight(pattern)).toBe(weight);
});

test("only objects and lists inside a value have members", () => {
  const limit = { nodes: 100, characters: 100 };
  expect(measure([null, 1, "ab", true, ["c"], { d: null }], limit)).toEqual({ nodes: 9, characters: 4 });
  expect(measure({ a: null, b: ["cd", null], e: { f: 1 } }, limit)).toEqual({ nodes: 7, characters: 6 });
  expect(measure(null, limit)).toEqual({ nodes: 1, characters: 0 });
});

test("Fairlead reads a recursive schema only once to find that its cost has no limit", () => {
  let reads = 0;
  const schema: JsonObject = {
    get title() {
      reads += 1;
      return "tree";
    },
    items: { $ref: "#" },
  };
  expect(costOf(schema)).toBeUndefined();
  expect(reads).toBe(1);
});
