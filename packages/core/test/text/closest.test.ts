import { expect, test } from "vitest";
import { closest } from "../../src/text/closest.ts";

const keys = ["command", "args", "env", "cwd", "url", "httpUrl", "headers", "timeout", "includeTools"];

test.each([
  ["comand", "command"],
  ["arg", "args"],
  ["cmd", "cwd"],
  ["httpurl", "httpUrl"],
  ["haeders", "headers"],
  ["evn", "env"],
  ["nev", "env"],
  ["include_tools", "includeTools"],
  ["totally-different", undefined],
  ["", undefined],
])("%j is nearest to %j", (word, expected) => {
  expect(closest(word, keys)).toBe(expected);
});

test.each([
  // A third of the letters may differ, but at least one and at most four.
  ["a", "b", true],
  ["ab", "xy", false],
  ["abcde", "abcdx", true],
  ["abcde", "abcxy", false],
  ["abcdef", "abcdxy", true],
  ["abcdef", "abcxyz", false],
  ["abcdefghi", "abcdefxyz", true],
  ["abcdefghi", "abcdewxyz", false],
  ["abcdefghijkl", "abcdefghwxyz", true],
  ["abcdefghijklmno", "abcdefghijkwxyz", true],
  ["abcdefghijklmno", "abcdefghijvwxyz", false],
  // Letters that are added or missing count, wherever they are.
  ["abc", "abcd", true],
  ["abc", "abcde", false],
  ["abc", "xabc", true],
  ["abcdef", "abcd", true],
  ["abcdef", "abc", false],
  ["abcdef", "cdef", true],
  ["abcdef", "abcdefgh", true],
  ["abcdef", "xxabcdef", true],
  ["abcdef", "xabcdefx", true],
  ["abcdef", "abcdefghi", false],
  // Two swapped neighbours count once. Other swapped letters do not.
  ["ab", "ba", true],
  ["abc", "bac", true],
  ["abc", "acb", true],
  ["abc", "cba", false],
  ["abcd", "badc", false],
  ["abcdef", "badcef", true],
  ["abcdef", "badcfe", false],
  ["abcd", "acbx", false],
  ["abcd", "bxcd", false],
  ["abcd", "xacd", false],
  ["abc", "xba", false],
  ["abcd", "abxc", false],
  ["abcd", "abdx", false],
  // The case of a letter does not count.
  ["ÄBC", "äbc", true],
  ["ABCDEF", "abcdxy", true],
])("for %j, the user is asked whether %j was meant: %j", (word, candidate, isMeant) => {
  expect(closest(word, [candidate])).toBe(isMeant ? candidate : undefined);
});

test("of several similar words, the most similar one is meant, and the first of equals", () => {
  expect(closest("abcdef", ["abcdxy", "abcdex", "abcdey"])).toBe("abcdex");
  expect(closest("abcdef", ["abcdey", "abcdex", "abcdxy"])).toBe("abcdey");
  expect(closest("abcdef", ["abcdex", "abcdef", "ABCDEF"])).toBe("abcdef");
  expect(closest("abcdef", [])).toBeUndefined();
});

test("a hostile length costs nothing and matches nothing", () => {
  expect(closest("x".repeat(1_000_000), keys)).toBeUndefined();
});
