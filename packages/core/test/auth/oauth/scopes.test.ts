import { expect, test } from "vitest";
import { includesAll, mergeScopes, scopesIn } from "../../../src/auth/oauth/challenge.ts";

test.each([
  [undefined, []],
  ["", []],
  [" read  write\tread\n", ["read", "write"]],
])("%j are the scopes %j", (text, scopes) => {
  expect(scopesIn(text)).toEqual(scopes);
});

test("a mergeScopes keeps the order, and everything once", () => {
  expect(mergeScopes(["b", "a"], [], ["a", "c"])).toEqual(["b", "a", "c"]);
});

test("all of nothing is included in anything; all of something only where all of it is", () => {
  expect([includesAll([], []), includesAll(["a", "b"], ["b", "a"]), includesAll(["a"], ["a", "b"])]).toEqual([
    true,
    true,
    false,
  ]);
});
