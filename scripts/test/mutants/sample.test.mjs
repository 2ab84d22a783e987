import { expect, test } from "vitest";
import { folderOf, sampled, summary } from "../../mutants/sample.mjs";

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
