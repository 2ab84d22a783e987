import { expect, test } from "vitest";
import { applied, mutantsOf } from "../../mutants/operators.mjs";

const changesOf = (source, file = "a.ts") => mutantsOf(file, source).map((mutant) => applied(source, mutant));

test.each([
  ["const x = a === b;", ["const x = a !== b;"]],
  ["const x = é < b;", ["const x = é <= b;"]],
  ["const x = (a) /* && */ || b;", ["const x = ((a) /* && */ && b);"]],
  ["const x = a ?? b;", ["const x = a;"]],
  ["const x = a ? 1 : 2;", ["const x = !(a) ? 1 : 2;"]],
  ["const x = true;", ["const x = false;"]],
  ["const x = 'word';", ['const x = "";']],
  ["if (a) b();", ["if (!(a)) b();", "if (a) ;"]],
  ["await save();", [";"]],
  ["const x = all.some(isOdd);", ["const x = all.every(isOdd);"]],
  ["function f() { return a; }", ["function f() { return undefined; }"]],
  ["const x = n + 1;", ["const x = n - 1;"]],
  ["const x = <b>{a && c}</b>;", ["const x = <b>{(a || c)}</b>;"], "a.tsx"],
])("the mutants of: %s", (source, changes, file) => {
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
  "const x = a?.b;",
])("there is no mutant of: %s", (source) => {
  expect(changesOf(source)).toEqual([]);
});

test("a mutant has the number of its line", () => {
  expect(mutantsOf("a.ts", "// é\n\nconst x = true;\n").map(({ line }) => line)).toEqual([3]);
});

test("isTopLevel is true for a mutant in code that runs when its module is loaded", () => {
  const source =
    "const list = ['a', f('b')]; const f = (x = 'c') => x + 1; class D { e = 'f'; static g() { return 'h'; } }";
  const topLevel = mutantsOf("a.ts", source).filter(({ isTopLevel }) => isTopLevel);
  expect(topLevel.map(({ original }) => original)).toEqual(["'a'", "'b'"]);
});
