import { expect, test } from "vitest";
import {
  excerpt,
  isObject,
  isShallow,
  listOf,
  member,
  objectOf,
  parseJson,
  parseObject,
  stringOf,
  textIn,
} from "../../src/shapes/json.ts";
import { clip, errorMessage, parseUrl } from "../../src/shapes/text.ts";

const values = [{ a: 1 }, [], null, "text", 7, undefined];

test("only objects are objects, lists lists and texts texts; other values are replaced", () => {
  expect(values.map(isObject)).toEqual([true, false, false, false, false, false]);
  expect(values.map(objectOf)).toEqual([{ a: 1 }, {}, {}, {}, {}, {}]);
  expect([[1], { 0: 1 }, "a"].map(listOf)).toEqual([[1], [], []]);
  expect(values.map(stringOf)).toEqual([undefined, undefined, undefined, "text", undefined, undefined]);
});

test("a member is the object's own; a text in an object is not empty", () => {
  expect(member({ a: 1 }, "a")).toBe(1);
  for (const [value, key] of [
    [{ a: 1 }, "constructor"],
    [["x"], "0"],
    ["text", "length"],
    [null, "a"],
  ] as const)
    expect(member(value, key)).toBeUndefined();
  expect(["a", "b", "c", "d"].map((key) => textIn({ a: "x", b: "", c: 1 }, key))).toEqual([
    "x",
    undefined,
    undefined,
    undefined,
  ]);
});

test("JSON is parsed, and anything else is undefined", () => {
  expect(["[1]", "null", "", "{"].map(parseJson)).toEqual([[1], null, undefined, undefined]);
  expect(['{"a":1}', "[1]", "null", "{"].map(parseObject)).toEqual([{ a: 1 }, undefined, undefined, undefined]);
});

test("a value is shallow if it has at most so many levels", () => {
  expect([0, 1, 2].map((levels) => isShallow({ a: [1], b: 2 }, levels))).toEqual([false, false, true]);
  expect([isShallow(1, 0), isShallow(null, 0), isShallow([], 0), isShallow([1, [2]], 1)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  expect([isShallow(nested(500)), isShallow(nested(501))]).toEqual([true, false]);
});

test("an excerpt never throws", () => {
  expect([excerpt({ a: "bcd" }, 5), excerpt(undefined, 50)]).toEqual(['{"a":', "undefined"]);
  expect(excerpt(1n, 50)).toBe("(nested too deeply to show)");
});

test("a long text is cut to its limit, and never within a character", () => {
  expect([clip("abcd", 4), clip("abcde", 4), clip("ab⚓💙e", 4), clip("a💙bcd", 4)]).toEqual([
    "abcd",
    "abc…",
    "ab⚓…",
    "a💙…",
  ]);
  expect(clip("abc💙e", 5)).toBe("abc…");
  expect([clip("x".repeat(1000)).length, clip("x".repeat(1001)).endsWith("x…")]).toEqual([1000, true]);
});

test("anything that is thrown has a message", () => {
  expect([new Error("no"), "words", 7, undefined].map(errorMessage)).toEqual(["no", "words", "7", "undefined"]);
  expect(errorMessage(Object.create(null))).toBe("unknown error");
});

test("a URL is parsed, with its base if there is one", () => {
  expect(parseUrl("https://a.example/b")?.href).toBe("https://a.example/b");
  expect(parseUrl("/c", "https://a.example/b")?.href).toBe("https://a.example/c");
  expect([parseUrl("/c"), parseUrl("")]).toEqual([undefined, undefined]);
});

test("a text is shortened to 1000 characters unless another limit is given", () => {
  expect([clip("x".repeat(1001)), clip("ab", 1), clip("a", 1)]).toEqual([`${"x".repeat(999)}…`, "…", "a"]);
});

test("an error's message is shown as text, whatever it is", () => {
  const error = new Error("no");
  Object.defineProperty(error, "message", { value: 7 });
  expect(errorMessage(error)).toBe("7");
});
