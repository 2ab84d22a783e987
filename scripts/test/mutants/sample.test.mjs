import { expect, test } from "vitest";
import { findAgain, folderOf, mutantsAt, sampled, summary } from "../../mutants/sample.mjs";

test("the same seed chooses the same mutants, another seed chooses others, and no mutant is chosen twice", () => {
  const all = Array.from({ length: 100 }, (_, index) => index);
  expect(sampled(all, 10, "1")).toEqual(sampled(all, 10, "1"));
  expect(sampled(all, 10, "1")).not.toEqual(sampled(all, 10, "2"));
  expect(new Set(sampled(all, 200, "1")).size).toBe(100);
});

test("the summary has a score for each folder, and a mutant that timed out has not survived", () => {
  const mutant = (file, state) => ({ file, state, line: 7, original: "===", replacement: "!==" });
  const text = summary([
    mutant("packages/core/src/policy/a.ts", "killed"),
    mutant("packages/core/src/policy/deep/b.ts", "survived"),
    mutant("packages/wire/src/c.ts", "timeout"),
  ]);
  expect(text).toMatch(/core\/policy +50 %: 1 killed, 0 timed out, 1 survived/);
  expect(text).toMatch(/wire +100 %: 0 killed, 1 timed out, 0 survived/);
  expect(text).toContain("packages/core/src/policy/deep/b.ts:7\n- ===\n+ !==\n");
  expect(folderOf("packages/cli/src/tui/input/keys.ts", 3)).toBe("cli/tui/input");
});

test("mutantsAt chooses mutants by folder, file and line, and returns the places without a mutant", () => {
  const at = (file, line) => ({ file, line });
  const inPolicy = at("packages/core/src/policy/rules/a.ts", 3);
  const inTrust = at("packages/core/src/trust/b.ts", 5);
  const later = at("packages/core/src/trust/b.ts", 9);
  const all = [inPolicy, inTrust, later];
  expect(mutantsAt(all, {})).toEqual({ mutants: all, missing: [] });
  expect(mutantsAt(all, { folder: ["core/policy"] })).toEqual({ mutants: [inPolicy], missing: [] });
  expect(mutantsAt(all, { folder: ["core/polic", "core"] })).toEqual({ mutants: all, missing: ["core/polic"] });
  expect(mutantsAt(all, { at: ["core/src/trust/b.ts"] })).toEqual({ mutants: [inTrust, later], missing: [] });
  expect(mutantsAt(all, { at: ["core/src/trust/b.ts:9", "core/src/trust/b.ts:1"] })).toEqual({
    mutants: [later],
    missing: ["core/src/trust/b.ts:1"],
  });
  expect(mutantsAt(all, { folder: ["core/policy"], at: ["core/src/trust/b.ts"] })).toEqual({
    mutants: [],
    missing: ["core/src/trust/b.ts"],
  });
});

test("findAgain finds a mutant whose line has moved, and leaves out one whose source has changed", () => {
  const mutant = (line, original) => ({ file: "a.ts", kind: "operator", line, original, replacement: "!==" });
  const all = [mutant(10, "==="), mutant(42, "==="), mutant(50, "<")];
  expect(findAgain([mutant(40, "==="), mutant(50, ">")], all)).toEqual([mutant(42, "===")]);
  expect(findAgain([mutant(40, "==="), mutant(43, "===")], all)).toEqual([mutant(42, "===")]);
});
