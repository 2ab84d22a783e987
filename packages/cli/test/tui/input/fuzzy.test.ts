import { describe, expect, test } from "vitest";
import { fuzzyScore, rank } from "../../../src/tui/input/completion.ts";

const names = ["list_issues", "create_issue", "search", "getIssueByName", "issue"];

test.each([
  ["", names],
  ["issue", ["issue", "list_issues", "create_issue", "getIssueByName"]],
  ["li", ["list_issues"]],
  ["ci", ["create_issue"]],
  ["gibn", ["getIssueByName"]],
  ["SEARCH", ["search"]],
  ["hcraes", []],
])("%j finds %j, the best first", (typed, found) => {
  expect(rank(names, typed, (name) => name, 10)).toEqual(found);
});

describe("a score", () => {
  test.each([
    ["letters that stand together", "ab", "xab", "xaxb"],
    ["the beginning of the text", "ab", "abx", "xabx"],
    ["the beginnings of words", "gi", "get_issue", "going"],
    ["a shorter text", "a", "ab", "abcdef"],
  ])("prefers %s", (_, typed, better, worse) => {
    expect(fuzzyScore(typed, better)).toBeGreaterThan(fuzzyScore(typed, worse) ?? Number.POSITIVE_INFINITY);
  });

  test("is found for what a hostile server names without end", () => {
    expect(fuzzyScore("ab", `a${"a".repeat(1_000_000)}b`)).toBeUndefined();
    expect(fuzzyScore("aaab", "a".repeat(100_000))).toBeUndefined();
  });
});

test("no more are given than are wanted", () => {
  expect(rank(names, "", (name) => name, 2)).toEqual(["list_issues", "create_issue"]);
});

test.each([
  ["ab", "ab", 38 - 2 / 300],
  ["ab", "xab", 10 - 3 / 300],
  ["ac", "abc", 32 - 3 / 300],
  ["ad", "abcd", 31 - 4 / 300],
  ["ae", "abcde", 30 - 5 / 300],
  ["az", "abcdefgz", 30 - 8 / 300],
  ["b", "a-b", 13 - 3 / 300],
  ["b", "aB", 13 - 2 / 300],
  ["b", "AB", 5 - 2 / 300],
  ["b", `a${"b".repeat(400)}`, 4],
])(
  "%j has an exact score in %j: adjacent letters and starts of words raise it, gaps of up to 3 lower it",
  (typed, text, score) => {
    expect(fuzzyScore(typed, text)).toBeCloseTo(score, 10);
  },
);

test("the first 20 places of the first letter are compared, and no others", () => {
  expect(fuzzyScore("ab", `x${"a".repeat(20)}b`)).toBeCloseTo(10 - 22 / 300, 10);
  expect(fuzzyScore("ab", `x${"a".repeat(21)}b`)).toBeCloseTo(4 - 23 / 300, 10);
});
