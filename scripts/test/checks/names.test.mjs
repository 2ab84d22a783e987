import { expect, test } from "vitest";
import { checkNames } from "../../checks/names.mjs";
import { planted } from "./planted.mjs";

const found = async (files) => (await planted(files, (folder) => checkNames(folder))).violations;
const files = (count, folder = "core/src/host", extension = "ts") =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/file${index}.${extension}`, ""]));

test("a folder with more than 22 source files is found; its subfolders count for themselves", async () => {
  expect(await found({ ...files(22), "core/src/host/servers/a.ts": "" })).toEqual([]);
  expect(await found(files(23))).toEqual(["packages/core/src/host: 23 source files, at most 22"]);
});

test("a file with more than 310 lines is found", async () => {
  expect(await found({ "wire/src/a.ts": "\n".repeat(310) })).toEqual([]);
  expect(await found({ "wire/src/a.ts": "\n".repeat(311) })).toEqual([
    "packages/wire/src/a.ts: 311 lines, at most 310",
  ]);
});

test.each(["mjs", "cjs", "js", "sh"])("programs that end with .%s count like other source files", async (extension) => {
  const folder = "test-servers/src/programs";
  expect(await found({ ...files(21, folder, extension), [`${folder}/a.ts`]: "", [`${folder}/a.json`]: "" })).toEqual(
    [],
  );
  expect(await found({ ...files(22, folder, extension), [`${folder}/a.ts`]: "" })).toEqual([
    `packages/${folder}: 23 source files, at most 22`,
  ]);
  expect(await found({ [`cli/bin/a.${extension}`]: "\n".repeat(311) })).toEqual([
    `packages/cli/bin/a.${extension}: 311 lines, at most 310`,
  ]);
});

test.each([
  ["a type and a type", "export type A = 1;", "export interface A {}"],
  ["a function and a variable", "export function A() {}", "export const A = 1;"],
  ["a class and an export list", "export class A {}", "const A = 1;\nexport { A };"],
  ["a renamed export and an enumeration", "const b = 1;\nexport { b as A };", "export enum A {}"],
  ["two destructured variables", "export const { A } = x;", "export const [A] = x;"],
])("an exported name that two files declare is found: %s", async (_, one, other) => {
  expect(await found({ "cli/src/one.ts": one, "core/src/other.ts": other })).toEqual([
    "A is exported by 2 files: packages/cli/src/one.ts, packages/core/src/other.ts",
  ]);
});

test.each([
  ["handed on", 'export { A } from "./a.ts";'],
  ["imported and handed on", 'import { A } from "./a.ts";\nexport { A };'],
  ["not exported", "interface A {}\nexport const b = 1;"],
  ["deprecated", "/** @deprecated Use `B`. */\nexport type A = 1;"],
])("a name that is %s is not declared twice", async (_, other) => {
  expect(await found({ "core/src/a.ts": "export type A = 1;", "core/src/b.ts": other })).toEqual([]);
});

test("overloads, and a type beside its value, are one name; so is the verb of each command", async () => {
  const overloads = "export type A = 1;\nexport function A(): void;\nexport function A(b?: 1) {}";
  expect(await found({ "core/src/a.ts": overloads })).toEqual([]);
  const verb = "export const verb = 1;";
  expect(await found({ "cli/src/commands/a.ts": verb, "cli/src/commands/b.ts": verb })).toEqual([]);
});

test.each([
  ["a variable", "const openShelf = 1;", "openShelf", "shelf"],
  ["a parameter", "export function a(today: Date) {}", "today", "today"],
  ["a parameter of an arrow function", "export const a = (verdict: 1) => 1;", "verdict", "verdict"],
  ["a destructured name", "const { b: [redeem = 1] } = x;", "redeem", "redeem"],
  ["a type", "export interface Judgement {}", "Judgement", "judgement"],
  ["a member of an interface", "export interface A { readonly knowledge: 1 }", "knowledge", "knowledge"],
  ["a method", "export class A { learnt() {} }", "learnt", "learnt"],
  ["a private member", "export class A { #witness = 1 }", "witness", "witness"],
  ["a constant in capitals", "const MAX_PATIENCE = 1;", "MAX_PATIENCE", "patience"],
])("a word that the glossary replaces is found in %s", async (_, content, name, word) => {
  expect(await found({ "core/src/a.ts": content })).toEqual([
    expect.stringContaining(`packages/core/src/a.ts: ${name} uses "${word}"; write: `),
  ]);
});

test("uses, keys of objects, longer words and deprecated names are free to use the word", async () => {
  const content = `export interface A {
    /** @deprecated Use \`now\`. */
    readonly today?: () => Date;
  }
  export const became = (options: A) => options.today ?? { verdict: 1 };`;
  expect(await found({ "core/src/a.ts": content })).toEqual([]);
});

const isError = "error instanceof Error ? error.message : ";
const isRecord = 'typeof value === "object" && value !== null && !Array.isArray(value)';

test.each([
  ["errorMessage", `export const a = (error: unknown) => ${isError}String(error);`],
  ["errorMessage", `export const a = (error: unknown) => String(${isError}error);`],
  ["errorMessage", `export const a = (error: unknown) => ${isError}\`\${error}\`;`],
  ["isObject", `export const a = (value: unknown) => ${isRecord};`],
  ["isObject", `export const a = (value: unknown) =>\n  ${isRecord.replaceAll("&& ", "&&\n    ")};`],
])("a copy of %s is found: %s", async (name, content) => {
  expect(await found({ "gateway/src/a.ts": content })).toEqual([
    expect.stringContaining(`packages/gateway/src/a.ts: a copy of a helper; use ${name} of @fairlead/wire/`),
  ]);
});

test("the helpers themselves, and code that differs from them, are no copies", async () => {
  const own = {
    "wire/src/shapes/text.ts": `export const a = (error: unknown) => ${isError}String(error);`,
    "wire/src/shapes/json.ts": `export const b = (value: unknown) => ${isRecord};`,
  };
  expect(await found(own)).toEqual([]);
  const other = `export const a = (error: unknown, other: unknown) => [${isError}"failed", ${isError}other];`;
  expect(await found({ "core/src/a.ts": other })).toEqual([]);
});
