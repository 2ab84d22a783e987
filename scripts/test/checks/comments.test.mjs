import { expect, test } from "vitest";
import { checkNames } from "../../checks/names.mjs";
import { planted } from "./planted.mjs";

const found = async (files) => (await planted(files, (folder) => checkNames(folder))).uncommented;
const withFirstLine = (content) => ({ "core/src/a.ts": `// Owns a.\n\n${content}` });

test.each([
  ["a function", "export function a() {}"],
  ["an asynchronous function", "export async function a() {}"],
  ["a generator", "export function* a() {}"],
  ["a variable", "export const a = 1;"],
  ["a class", "export abstract class a {}"],
  ["an interface", "export interface a {}"],
  ["a type", "export type a = 1;"],
  ["a destructured variable", "export const { a } = b;"],
  ["a declaration in an export list", "const a = 1;\nexport { a };"],
  ["an empty line between", "/** A. */\n\nexport const a = 1;"],
  ["a comment without words", "/** */\nexport const a = 1;"],
  ["a comment that is no TSDoc", "/* A. */\nexport const a = 1;"],
  ["a line comment", "// A.\nexport const a = 1;"],
  ["TSDoc of another declaration", "/** B. */\nconst b = 1; /* b */\nexport const a = b;"],
  ["TSDoc only on the second overload", "export function a(): 1;\n/** A. */\nexport function a(b?: 1) {}"],
])("an export without TSDoc is found: %s", async (_, content) => {
  expect(await found(withFirstLine(content))).toEqual([
    "packages/core/src/a.ts: a is exported without a TSDoc comment directly above it",
  ]);
});

test.each([
  ["on one line", "/** A. */\nexport const a = 1;"],
  ["on several lines", "/**\n * Matches `src/*`, and\n * `/*`.\n */\nexport function a() {}"],
  ["on the first overload", "/** A. */\nexport function a(): 1;\nexport function a(b?: 1) {}"],
  ["on a declaration in an export list", "/** A. */\nconst a = 1;\nexport { a };"],
])("TSDoc is enough %s", async (_, content) => {
  expect(await found(withFirstLine(content))).toEqual([]);
});

test("names that are not exported or only handed on need no TSDoc, and neither does the verb of a command", async () => {
  expect(await found(withFirstLine('const a = `\nexport const b = 1;`;\nexport { c } from "./c.ts";'))).toEqual([]);
  expect(await found({ "cli/src/commands/a.ts": "// A.\nexport const verb = 1;" })).toEqual([]);
  expect(await found({ "cli/src/a.ts": "// A.\nexport const verb = 1;" })).toHaveLength(1);
});

test("a source file that does not begin with a comment is found, in src of the packages that users install", async () => {
  const content = 'import "./b.ts";';
  const names = ["wire", "core", "cli", "gateway"];
  expect(await found(Object.fromEntries(names.map((name) => [`${name}/src/a.ts`, content])))).toEqual(
    names.sort().map((name) => `packages/${name}/src/a.ts: does not begin with a comment that says what it owns`),
  );
  expect(await found({ "core/src/a.ts": `\n// Too late.\n${content}` })).toHaveLength(1);
  expect(await found({ "core/src/a.ts": `/** A. */\n${content}`, "cli/src/b.tsx": `// B.\n${content}` })).toEqual([]);
  expect(await found({ "test-servers/src/a.ts": content, "cli/bin/a.mjs": content })).toEqual([]);
});
