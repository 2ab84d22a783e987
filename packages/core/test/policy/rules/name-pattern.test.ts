import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PolicyEngine } from "../../../src/policy/policy-engine.ts";
import { escapeName, everyResource, exactName, namePattern } from "../../../src/policy/rules/name-pattern.ts";
import { awkwardName } from "../../support/adversarial-names.ts";
import { request, rule } from "../../support/sample-rules.ts";

const long = "n".repeat(200);
const oddNames = [
  "a",
  "A",
  "a_",
  "a_b",
  "a__b",
  "b",
  "a.b",
  "a b",
  " a",
  "a*",
  "a?",
  "*",
  "?",
  "[a]",
  "a\\",
  "a\\*",
  "\\",
  "mcp_a",
  "mcp_a_b",
  "__proto__",
  "constructor",
  "toString",
  "é",
  "e\u0301",
  "🚢",
  long,
  `${long}x`,
  `${long.slice(1)}x`,
];

describe("a rule means exactly the pair that it names", () => {
  const pairs = oddNames.flatMap((server) => oddNames.map((tool) => ({ server, tool })));

  test.each([
    ["as an exact name", exactName],
    ["as a pattern with its stars escaped", (name: string) => namePattern(escapeName(name))],
  ])("%s", (_, toPattern) => {
    for (const meant of pairs) {
      const { server, tool } = meant;
      const engine = new PolicyEngine({
        rules: [rule("user", "deny", { server: toPattern(server), tool: toPattern(tool) })],
      });
      expect(pairs.filter((pair) => engine.check(request(pair)).decision === "deny")).toEqual([meant]);
    }
  });

  test("whatever the name", () => {
    fc.assert(
      fc.property(awkwardName, awkwardName, (name, other) => {
        const pattern = namePattern(escapeName(name));
        expect([pattern.matches(name), pattern.matches(other)]).toEqual([true, name === other]);
      }),
      { numRuns: scaled(10_000, 300), seed: seed() },
    );
  });
});

test.each([
  ["*", "", true],
  ["*", "anything at all", true],
  ["get_*", "get_issue", true],
  ["get_*", "get_", true],
  ["get_*", "xget_issue", false],
  ["*_issue", "get_issue", true],
  ["*_issue", "get_issues", false],
  ["*a*b*", "xxaxxbxx", true],
  ["*a*b*", "xxbxxaxx", false],
  ["g?t", "get", true],
  ["g?t", "gt", false],
  ["g?t", "g🚢t", true],
  ["[ab]", "a", false],
  ["[ab]", "[ab]", true],
  ["a\\*", "a*", true],
  ["a\\*", "ab", false],
  ["a\\\\*", "a\\b", true],
  ["a\\b", "a\\b", true],
  ["a*\\?", "abc?", true],
  ["", "", true],
  ["", "a", false],
])("%j and %j: %s", (pattern, name, expected) => {
  expect(namePattern(pattern).matches(name)).toBe(expected);
});

test("stars by the dozen cost nothing on a name made for them", () => {
  const pattern = namePattern(`${"*a".repeat(40)}*b`);
  expect(pattern.matches("a".repeat(100_000))).toBe(false);
});

test("the pattern for all resources matches every URI, and no name of a tool", () => {
  const { matches } = namePattern(everyResource);
  expect(["file:///a", "demo://x/y", "urn:a:b", ":"].map(matches)).toEqual([true, true, true, true]);
  expect(["greet", "delete_all", ""].map(matches)).toEqual([false, false, false]);
});
