import { expect, test } from "vitest";
import { candidatesOf } from "../../mutants/reach.mjs";

const source = "packages/core/src/auth/sign-in.ts";
const filesOf = (rows, mutants = [{ file: source }]) =>
  candidatesOf(mutants, rows).map((list) => list.map(({ file }) => file));

test("only tests that reach a mutant are tried, those named like its file first, then those in its folder, then short ones", () => {
  const row = (file, ms, reached = [0]) => ({ file, test: file, ms, reached });
  const rows = [
    row("packages/cli/test/tui/sign-in.test.ts", 1),
    row("packages/core/test/host/long.test.ts", 900),
    row("packages/core/test/host/short.test.ts", 9),
    row("packages/core/test/auth/other.test.ts", 9),
    row("packages/core/test/auth/sign-in.test.ts", 900),
    row("packages/core/test/auth/sign-in-again.test.ts", 9),
    row("packages/core/test/auth/elsewhere.test.ts", 9, [1]),
  ];
  expect(filesOf(rows)).toEqual([
    [
      "packages/core/test/auth/sign-in.test.ts",
      "packages/core/test/auth/sign-in-again.test.ts",
      "packages/core/test/auth/other.test.ts",
      "packages/core/test/host/short.test.ts",
      "packages/cli/test/tui/sign-in.test.ts",
      "packages/core/test/host/long.test.ts",
    ],
  ]);
});

test("the shortest tests of a file are tried, until they take more than ten seconds", () => {
  const rows = [9_000, 1, 8_000, 7_000].map((ms) => ({ file: "a.test.ts", test: `of ${ms}`, ms, reached: [0] }));
  const [[{ tests, ms, isReloaded }]] = candidatesOf([{ file: source }], rows);
  expect([tests.map(({ id }) => id), ms, isReloaded]).toEqual([["of 1", "of 7000", "of 8000"], 15_001, false]);
});

test("a mutant that is reached only while modules are loaded is tried with all tests of the files that load its module", () => {
  const other = "packages/core/src/other.ts";
  const rows = [
    { file: "many.test.ts", loaded: [0, 1], modules: [source, other, "a.ts", "b.ts"] },
    { file: "many.test.ts", test: "1", ms: 5, reached: [] },
    { file: "few.test.ts", loaded: [], modules: [source] },
    { file: "few.test.ts", test: "2", ms: 5, reached: [] },
    { file: "few.test.ts", test: "3", ms: 5, reached: [] },
  ];
  const [first, second, third] = candidatesOf([{ file: source }, { file: other }, { file: source }], rows);
  expect(first.map(({ file, tests, isReloaded }) => [file, tests.length, isReloaded])).toEqual([
    ["few.test.ts", 2, true],
    ["many.test.ts", 1, true],
  ]);
  expect(second.map(({ file }) => file)).toEqual(["many.test.ts"]);
  expect(third).toEqual([]);
});

test("a mutant outside of functions that one test reaches by a late import is tried with all tests of that test's file", () => {
  const rows = [
    { file: "a.test.ts", loaded: [], modules: [] },
    { file: "a.test.ts", test: "1", ms: 5, reached: [0] },
    { file: "a.test.ts", test: "2", ms: 5, reached: [] },
  ];
  const [[{ tests, isReloaded }]] = candidatesOf([{ file: source, isTopLevel: true }], rows);
  expect([tests.map(({ id }) => id), isReloaded]).toEqual([["1", "2"], true]);
});
