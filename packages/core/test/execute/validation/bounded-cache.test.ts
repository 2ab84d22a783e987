import { expect, test } from "vitest";
import { createBoundedCache } from "../../../src/execute/validation/bounded-cache.ts";
import { compileCheck } from "../../../src/execute/validation/compile-schema.ts";

function counting(
  entries: number,
  characters: number,
): { readonly ask: (key: string) => string; readonly made: string[] } {
  const made: string[] = [];
  const ask = createBoundedCache({ entries, characters }, (key) => {
    made.push(key);
    return key.toUpperCase();
  });
  return { ask, made };
}

test("the same text is made once", () => {
  const { ask, made } = counting(10, 100);
  expect([ask("a"), ask("b"), ask("a")]).toEqual(["A", "B", "A"]);
  expect(made).toEqual(["a", "b"]);
});

test("over the limit of entries, the one not asked for the longest is forgotten", () => {
  const { ask, made } = counting(2, 100);
  for (const key of ["a", "b", "a", "c", "a", "b"]) ask(key);
  expect(made).toEqual(["a", "b", "c", "b"]);
});

test("over the limit of characters too; a single one may be larger", () => {
  const { ask, made } = counting(10, 5);
  for (const key of ["aa", "bb", "cc", "bb", "aa", "toolong", "toolong", "aa"]) ask(key);
  expect(made).toEqual(["aa", "bb", "cc", "aa", "toolong", "aa"]);
});

test("at the limits nothing is forgotten", () => {
  const { ask, made } = counting(2, 4);
  for (const key of ["aa", "bb", "aa", "bb"]) ask(key);
  expect(made).toEqual(["aa", "bb"]);
});

test("schemas with the same content are compiled once", () => {
  let compiled = 0;
  const check = createBoundedCache({ entries: 10, characters: 1000 }, (text) => {
    compiled += 1;
    return compileCheck(text, true);
  });
  for (const value of [1, "a", 2]) check(JSON.stringify({ type: "string", minLength: 1 }))(value);
  expect(compiled).toBe(1);
  check(JSON.stringify({ type: "string", minLength: 2 }));
  expect(compiled).toBe(2);
});
