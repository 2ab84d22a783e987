import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { accepted, refusedMutants } from "../mutants/compiler.mjs";
import { testsFor } from "../mutants/imports.mjs";
import { createJudge } from "../mutants/judge.mjs";
import { applied, mutantsOf } from "../mutants/operators.mjs";
import { folderOf, sampled, summary } from "../mutants/sample.mjs";

const changesOf = (source, file = "a.ts") => mutantsOf(file, source).map((mutant) => applied(source, mutant));

test.each([
  ["const x = a === b;", ["const x = a !== b;"]],
  ["const x = é < b;", ["const x = é <= b;"]],
  ["const x = (a) /* && */ || b;", ["const x = (a) /* && */ && b;"]],
  ["const x = a ?? b;", ["const x = a;"]],
  ["const x = a ? 1 : 2;", ["const x = !(a) ? 1 : 2;"]],
  ["const x = a?.b;", ["const x = a.b;"]],
  ["const x = a?.(b);", ["const x = a(b);"]],
  ["const x = true;", ["const x = false;"]],
  ["const x = 'word';", ['const x = "";']],
  ["if (a) b();", ["if (!(a)) b();", "if (a) ;"]],
  ["await save();", [";"]],
  ["const x = all.some(isOdd);", ["const x = all.every(isOdd);"]],
  ["function f() { return a; }", ["function f() { return undefined; }"]],
  ["const x = n + 1;", ["const x = n - 1;"]],
  ["const x = <b>{a && c}</b>;", ["const x = <b>{a || c}</b>;"], "a.tsx"],
])("%s", (source, changes, file) => {
  expect(changesOf(source, file)).toEqual(changes);
});

test.each([
  'import { a } from "b";',
  'export * from "b";',
  'const x = await import("./b.ts");',
  'type A = "b" | "c";',
  'throw new HostError("code", "two words");',
  'const x = "several words for a person";',
  "const x = first + second;",
  "const x = text.replaceAll(/a/g, b);",
  "const x = text.replaceAll(pattern, b);",
  'const x: Record<"a", 1> = y as Z<"b">;',
  "function f() { return; }",
])("nothing is changed in: %s", (source) => {
  expect(changesOf(source)).toEqual([]);
});

test("a mutant knows its line", () => {
  expect(mutantsOf("a.ts", "// é\n\nconst x = true;\n").map(({ line }) => line)).toEqual([3]);
});

test("the same seed chooses the same mutants, another one others, none of them twice", () => {
  const all = Array.from({ length: 100 }, (_, index) => index);
  expect(sampled(all, 10, "1")).toEqual(sampled(all, 10, "1"));
  expect(sampled(all, 10, "1")).not.toEqual(sampled(all, 10, "2"));
  expect(new Set(sampled(all, 200, "1")).size).toBe(100);
});

test("mutants that the compiler refuses are replaced by the next ones", () => {
  const odd = (numbers) => new Set(numbers.filter((number) => number % 2 === 1));
  expect(accepted([1, 2, 3, 4, 5, 6, 7, 8], 3, odd)).toEqual({ chosen: [2, 4, 6], refused: 3 });
  expect(accepted([1, 2, 3], 3, odd)).toEqual({ chosen: [2], refused: 2 });
});

test("the compiler gets one mutant of each file at a time, and then the sources as they were", () => {
  const folder = mkdtempSync(join(tmpdir(), "compiler-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const sources = { "a.ts": "if (true) b('x');", "c.ts": "const d = 'e';" };
  for (const [file, source] of Object.entries(sources)) writeFileSync(join(folder, file), source);
  const read = () => Object.keys(sources).map((file) => readFileSync(join(folder, file), "utf8"));
  const mutants = Object.entries(sources).flatMap(([file, source]) => mutantsOf(file, source));
  const seen = [];
  const refused = refusedMutants(folder, mutants, () => {
    seen.push(read());
    return Object.keys(sources).filter((_, index) => seen.at(-1)[index].includes('""'));
  });
  expect(seen).toEqual([
    ["if (!(true)) b('x');", 'const d = "";'],
    ["if (false) b('x');", sources["c.ts"]],
    ["if (true) ;", sources["c.ts"]],
    ['if (true) b("");', sources["c.ts"]],
  ]);
  expect([...refused].map(({ file, replacement }) => [file, replacement])).toEqual([
    ["c.ts", '""'],
    ["a.ts", '""'],
  ]);
  expect(read()).toEqual(Object.values(sources));
});

test("the score is by folder, and a mutant that runs out of time is not a survivor", () => {
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

const passed = { state: "passed" };
const failed = { state: "failed", by: "a.test.ts" };
const slow = { ...failed, isSlow: true };

/** The outcomes of the runs without and with the mutant, in order. */
function judged({ sound = [], mutated = [] }) {
  const judge = createJudge({ run: async () => sound.shift() ?? passed, report: () => {} });
  return judge(["a.test.ts"], [4], async () => mutated.shift() ?? passed);
}

test.each([
  ["fails", { mutated: [failed] }, "killed"],
  ["fails without the mutant, too", { mutated: [failed], sound: [failed, failed] }, "survived"],
  ["fails, and is once too slow without the mutant", { mutated: [failed], sound: [slow] }, "killed"],
  ["is too slow once", { mutated: [slow, passed] }, "survived"],
  ["hangs once", { mutated: [{ state: "timeout" }, passed] }, "survived"],
  ["is too slow again and again, but not without the mutant", { mutated: [slow, slow] }, "killed"],
  ["hangs again and again, but not without the mutant", { mutated: [slow, { state: "timeout" }] }, "timeout"],
  [
    "is too slow without the mutant, too",
    { mutated: [slow, slow, slow, slow], sound: [slow, slow, slow, slow] },
    "survived",
  ],
])("a mutant whose test %s", async (_, runs, state) => {
  expect(await judged(runs)).toMatchObject({ state });
});

test("the test with the name of the file comes first, if it is one of the same package", () => {
  const file = "/packages/core/src/auth/sign-in.ts";
  const tests = ["/packages/cli/test/tui/sign-in.test.ts", "/packages/core/test/auth/a.test.ts"];
  const own = "/packages/core/test/other/sign-in.test.ts";
  const importers = new Map([
    [file, ["/packages/core/src/host.ts", tests[1], own]],
    ["/packages/core/src/host.ts", [tests[0]]],
  ]);
  expect(testsFor(file, importers)).toEqual([own, tests[1], tests[0]]);
});

test("a test in a folder above the file comes before a test in a folder beside it", () => {
  const file = "/packages/core/src/auth/oauth/refresh.ts";
  const tests = ["/packages/core/test/auth/sign-in.test.ts", "/packages/core/test/auth/store/keys.test.ts"];
  expect(testsFor(file, new Map([[file, tests.toReversed()]]))).toEqual(tests);
});

test("a test that shares rare words with the changed lines comes before one that shares none", () => {
  const folder = mkdtempSync(join(tmpdir(), "mutants-words-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const tests = ["b.test.ts", "a.test.ts"].map((name) => join(folder, name));
  writeFileSync(tests[0], 'test("transportType")');
  writeFileSync(tests[1], 'test("other")');
  const importers = new Map([["/source.ts", tests.toReversed()]]);
  expect(testsFor("/source.ts", importers, 'childNode(entry, "transportType")')).toEqual(tests);
});
