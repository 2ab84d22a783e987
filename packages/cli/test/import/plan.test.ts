import { expect, test } from "vitest";
import { type ImportCandidate, type PlanOptions, planImport } from "../../src/import/plan.ts";
import type { Program, Remark } from "../../src/import/program.ts";

function candidate(
  name: string,
  program: Program,
  entry: Record<string, unknown>,
  remarks: readonly Remark[] = [],
): ImportCandidate {
  return { name, source: { program, file: `/${program}` }, conversion: { entry, enabled: true, remarks } };
}

function plan(candidates: readonly ImportCandidate[], options: Partial<PlanOptions> = {}): readonly string[] {
  return planImport(candidates, { existing: new Map(), replace: false, isTrusted: () => true, ...options }).map(
    ({ name, source, target, action }) => `${source.program} ${name} → ${target}: ${action.kind}`,
  );
}

const one = { command: "one", args: ["a"] };
const two = { command: "two" };
const obstacle: Remark = { kind: "obstacle", key: "", message: "" };
const cursor = candidate("x", "cursor", one);
const codex = candidate("x", "codex", two);

test.each<{ title: string; candidates: ImportCandidate[]; options?: Partial<PlanOptions>; expected: string[] }>([
  { title: "a new name is added", candidates: [cursor], expected: ["cursor x → x: add"] },
  {
    title: "the same entry is there already, in whatever order its keys are",
    candidates: [cursor],
    options: { existing: new Map([["x", { args: ["a"], command: "one" }]]) },
    expected: ["cursor x → x: same"],
  },
  {
    title: "another entry of the name stays",
    candidates: [cursor],
    options: { existing: new Map([["x", two]]) },
    expected: ["cursor x → x: exists"],
  },
  {
    title: "another entry of the name is replaced when asked for",
    candidates: [cursor],
    options: { existing: new Map([["x", two]]), replace: true },
    expected: ["cursor x → x: replace"],
  },
  {
    title: "the same entry from a second program changes nothing",
    candidates: [cursor, candidate("x", "codex", one)],
    expected: ["cursor x → x: add", "codex x → x: duplicate"],
  },
  {
    title: "another entry from a second program gets a name of its own, and waits to be asked for",
    candidates: [cursor, codex],
    expected: ["cursor x → x: add", "codex x → x-codex: clash"],
  },
  {
    title: "asked for by that name, it is added under it, alone",
    candidates: [cursor, codex],
    options: { only: new Set(["x-codex"]) },
    expected: ["cursor x → x: not-chosen", "codex x → x-codex: add"],
  },
  {
    title: "a suggested name is never one in use",
    candidates: [cursor, codex, candidate("x", "codex", { command: "three" })],
    options: { existing: new Map([["x-codex", one]]) },
    expected: ["cursor x → x: add", "codex x → x-codex-2: clash", "codex x → x-codex-3: clash"],
  },
  {
    title: "what was added under a suggested name is recognised the next time",
    candidates: [cursor, codex],
    options: {
      existing: new Map<string, unknown>([
        ["x", one],
        ["x-codex", two],
      ]),
    },
    expected: ["cursor x → x: same", "codex x → x-codex: same"],
  },
  {
    title: "the second program's entry is the one that is there",
    candidates: [cursor, codex],
    options: { existing: new Map([["x", two]]) },
    expected: ["cursor x → x: exists", "codex x → x: same"],
  },
  {
    title: "a second program never replaces what a first one replaces",
    candidates: [cursor, codex],
    options: { existing: new Map([["x", {}]]), replace: true },
    expected: ["cursor x → x: replace", "codex x → x-codex: clash"],
  },
  {
    title: "a server that cannot be taken over does not take its name either",
    candidates: [candidate("x", "cursor", one, [obstacle]), codex],
    expected: ["cursor x → x: refused", "codex x → x: add"],
  },
  {
    title: "a server of an untrusted folder waits to be asked for, and takes no name until then",
    candidates: [cursor, codex],
    options: { isTrusted: ({ program }) => program !== "cursor" },
    expected: ["cursor x → x: untrusted", "codex x → x: add"],
  },
  {
    title: "asked for by name, a server of an untrusted folder is added",
    candidates: [cursor],
    options: { isTrusted: () => false, only: new Set(["x"]) },
    expected: ["cursor x → x: add"],
  },
  {
    title: "a server of an untrusted folder that is there already is recognised",
    candidates: [cursor],
    options: { isTrusted: () => false, existing: new Map([["x", one]]) },
    expected: ["cursor x → x: same"],
  },
  {
    title: "asking for another name is not enough to add a server of an untrusted folder",
    candidates: [cursor],
    options: { isTrusted: () => false, only: new Set(["y"]) },
    expected: ["cursor x → x: untrusted"],
  },
  {
    title: "asked for by name, only those servers are added",
    candidates: [cursor, candidate("y", "cursor", two)],
    options: { only: new Set(["y"]) },
    expected: ["cursor x → x: not-chosen", "cursor y → y: add"],
  },
  {
    title: "a remark that is no obstacle does not keep a server out",
    candidates: [candidate("x", "cursor", one, [{ ...obstacle, kind: "hint" }])],
    expected: ["cursor x → x: add"],
  },
  {
    title: "one obstacle among other remarks keeps a server out",
    candidates: [candidate("x", "cursor", one, [{ ...obstacle, kind: "hint" }, obstacle])],
    expected: ["cursor x → x: refused"],
  },
  {
    title: "a third entry equal to the second is still a clash with the first",
    candidates: [cursor, codex, candidate("x", "zed", two)],
    expected: ["cursor x → x: add", "codex x → x-codex: clash", "zed x → x-zed: clash"],
  },
  {
    title: "a name that is special elsewhere is only a name",
    candidates: [candidate("__proto__", "cursor", one), candidate("__proto__", "codex", two)],
    expected: ["cursor __proto__ → __proto__: add", "codex __proto__ → __proto__-codex: clash"],
  },
])("$title", ({ candidates, options, expected }) => {
  expect(plan(candidates, options)).toEqual(expected);
});

test.each<[existing: unknown, imported: unknown, isSame: boolean]>([
  ["a", "a", true],
  ["a", "ab", false],
  ["${secret:S}", "token", true],
  ["${secret:S}", "", false],
  ["Bearer ${secret:S}", "Bearer token", true],
  ["Bearer ${secret:S}", "Bearer ", false],
  ["Bearer ${secret:S}", "Basic token", false],
  ["${secret:S}!", "token!", true],
  ["${secret:S}!", "token?", false],
  ["<${secret:S}>", "<>", false],
  ["<${secret:S}>", "<t>", true],
  ["a${secret:S}b${secret:T}c", "a1b2c", true],
  ["a${secret:S}b${secret:T}c", "a1b2", false],
  ["token", "${secret:S}", false],
  [["a", "b"], ["a", "b"], true],
  [["a"], ["a", "b"], false],
  [["a", "b"], ["a"], false],
  [["b", "a"], ["a", "b"], false],
  [["${secret:S}"], ["token"], true],
  [{ a: "1" }, { a: "1" }, true],
  [{ a: "1" }, { a: "1", b: "2" }, false],
  [{ a: "1", b: "2" }, { a: "1" }, false],
  [{ a: "1" }, { b: "1" }, false],
  [{ a: "${secret:S}" }, { a: "token" }, true],
  [{ a: undefined }, { b: undefined }, false],
  [7, 7, true],
  [7, "7", false],
  [["a"], { 0: "a" }, false],
  [[], "", false],
  [[], [], true],
  [["a", "b"], ["a", "c"], false],
  [{}, {}, true],
  [{ a: "1", b: "2" }, { a: "1", b: "3" }, false],
  [null, null, true],
  [null, {}, false],
])("whether %j in the settings is the same as %j: %s", (existing, imported, isSame) => {
  const options = { existing: new Map([["x", { value: existing }]]) };
  expect(plan([candidate("x", "cursor", { value: imported })], options)).toEqual([
    `cursor x → x: ${isSame ? "same" : "exists"}`,
  ]);
});

test("a duplicate and a clash name the file that has the name first", () => {
  const options = { existing: new Map(), replace: false, isTrusted: () => true };
  const actions = planImport([cursor, codex, candidate("x", "zed", one)], options).map(({ action }) => action);
  expect(actions).toEqual([
    { kind: "add" },
    { kind: "clash", with: { program: "cursor", file: "/cursor" } },
    { kind: "duplicate", of: { program: "cursor", file: "/cursor" } },
  ]);
});
