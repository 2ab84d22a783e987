import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { checkNames } from "../../checks/names.mjs";
import { otherMeanings, publicMembers, replaced } from "../../checks/words.mjs";
import { planted } from "./planted.mjs";

const found = async (files) => (await planted(files, (folder) => checkNames(folder))).violations;
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
  ["a name that begins with capitals", "const HTTPVerdict = 1;", "HTTPVerdict", "verdict"],
  ["a type parameter", "export type A<Verdict> = Verdict[];", "Verdict", "verdict"],
  ["the key of a mapped type", "export type A = { [Shelf in B]: 1 };", "Shelf", "shelf"],
  ["an inferred type", "export type A<B> = B extends (infer Shelf)[] ? Shelf : 1;", "Shelf", "shelf"],
  ["the parameter of a catch", "try {} catch (verdict) {}", "verdict", "verdict"],
  ["a member of an enumeration", "export enum A { Resting }", "Resting", "resting"],
  ["an alias of an import", 'import { a as shelf } from "./a.ts";', "shelf", "shelf"],
  ["a default import", 'import shelf from "./a.ts";', "shelf", "shelf"],
  ["an import of all names", 'import * as shelf from "./a.ts";', "shelf", "shelf"],
  ["an alias of an export", 'export { a as shelf } from "./a.ts";', "shelf", "shelf"],
  ["an export of all names", 'export * as shelf from "./a.ts";', "shelf", "shelf"],
  ["a member that a constructor declares", "class A { constructor(readonly shelf: 1) {} }", "shelf", "shelf"],
  ["a destructured name with a default", "const { shelf = 1 } = x;", "shelf", "shelf"],
  ["a parameter of a function type", "export type A = (shelf: 1) => void;", "shelf", "shelf"],
  ["a parameter of a constructor type", "export type A = new (shelf: 1) => B;", "shelf", "shelf"],
  ["a parameter of a method's type", "export interface A { b(shelf: 1): void }", "shelf", "shelf"],
  ["a parameter of a call's type", "export interface A { (shelf: 1): void }", "shelf", "shelf"],
  ["the name of an index", "export interface A { [shelf: string]: 1 }", "shelf", "shelf"],
  ["a label of a tuple", "export type A = [shelf: 1];", "shelf", "shelf"],
  ["a getter of a class", "class A { get shelf() { return 1; } }", "shelf", "shelf"],
  ["a getter of an object", "export const a = { get shelf() { return 1; } };", "shelf", "shelf"],
  ["a setter and its parameter", "export const a = { set b(shelf: 1) {} };", "shelf", "shelf"],
  ["a getter of an interface", "export interface A { get shelf(): 1 }", "shelf", "shelf"],
  ["a class expression", "export const a = class Shelf {};", "Shelf", "shelf"],
  ["a namespace", "namespace Shelf { export const a = 1; }", "Shelf", "shelf"],
  ["a word for a confirmation", "export interface Asking {}", "Asking", "asking"],
  ["a word for an approval", "const sealedYes = 1;", "sealedYes", "sealed"],
])("a word that the glossary replaces is found in %s", async (_, content, name, word) => {
  expect(await found({ "core/src/a.ts": content })).toEqual([
    expect.stringContaining(`packages/core/src/a.ts: ${name} uses "${word}"; write: `),
  ]);
});

test("a word that the glossary replaces is found in the name of a file and of a folder, in all packages", async () => {
  expect(await found({ "test-servers/src/asking/open-shelf.ts": "" })).toEqual([
    expect.stringContaining('packages/test-servers/src/asking/open-shelf.ts: asking uses "asking"; write: '),
    expect.stringContaining('packages/test-servers/src/asking/open-shelf.ts: open-shelf.ts uses "shelf"; write: '),
  ]);
  expect(await found({ "test-servers/src/shelf.sh": "exec 4<&0", "test-servers/src/a.mjs": "let shelf;" })).toEqual([
    expect.stringContaining('packages/test-servers/src/a.mjs: shelf uses "shelf"; write: '),
    expect.stringContaining('packages/test-servers/src/shelf.sh: shelf.sh uses "shelf"; write: '),
  ]);
});

test.each([
  ["definedEntries", "defined entry"],
  ["serverConversation", "server conversation"],
  ["ConnectionPlace", "connection place"],
  ["cachedOffer", "cached offer"],
  ["catalogMemory", "catalog memory"],
  ["toolMark", "tool mark"],
  ["knownTools", "known tool"],
  ["pendingAsks", "pending ask"],
  ["SavedAnswer", "saved answer"],
  ["savedRule", "saved rule"],
  ["lostServers", "lost server"],
  ["serverClaims", "server claim"],
])("%s has the meaning that the glossary gives another word", async (name, compound) => {
  expect(await found({ "core/src/execute/a.ts": `const ${name} = 1;` })).toEqual([
    expect.stringContaining(`packages/core/src/execute/a.ts: ${name} uses "${compound}"; write: `),
  ]);
});

test("a word with a second meaning is allowed in that meaning", async () => {
  const names = "entry conversation placeOf offeredTools byteOrderMark knownOptions askUser answer savedAt lostCalls";
  const content = names.split(" ").map((name) => `export const ${name} = 1;`);
  expect(await found({ "cli/src/a.ts": content.join("\n") })).toEqual([]);
});

test.each([
  ["a variable", "const known = 1;", "known"],
  ["a plural", "const offers = 1;", "offers"],
  ["a parameter", "export const a = (saved: 1) => 1;", "saved"],
  ["a function", "export function lost() {}", "lost"],
  ["a type", "interface Place {}", "Place"],
  ["a member", "export interface A { readonly mark: 1 }", "mark"],
  ["a destructured name", "const { memory } = a;", "memory"],
  ["an alias", 'import { a as place } from "./a.ts";', "place"],
  ["a name with a number", "const place2 = 1;", "place2"],
])("a word that says too little alone is found: %s", async (_, content, name) => {
  expect(await found({ "core/src/execute/a.ts": content })).toEqual([
    `packages/core/src/execute/a.ts: ${name} says too little alone; name what it holds`,
  ]);
});

test("a file, a destructured name with an alias, a use and a key of an object may be such a word", async () => {
  const content = "export const { place: file } = a;\nexport const b = { offer: a.known };";
  expect(await found({ "core/src/places/place.ts": content })).toEqual([]);
});

test("a public member keeps its name, but only as a member and in its file", async () => {
  for (const { name, files, reason } of publicMembers) {
    expect(reason).not.toBe("");
    const own = `core/src/${files[0]}`;
    expect(await found({ [own]: `export interface A { readonly ${name}: 1 }` })).toEqual([]);
    expect(await found({ [own]: `export interface A { readonly ${name}: 1 }\nconst ${name} = 1;` })).toHaveLength(1);
    expect(await found({ "cli/src/a.ts": `export interface A { readonly ${name}: 1 }` })).toHaveLength(1);
  }
});

test("a word whose second meaning belongs to some folders is allowed only there", async () => {
  const content = "const claims = 1;\nconst memoryOf = 1;";
  expect(await found({ "core/src/auth/a.ts": content })).toEqual([
    expect.stringContaining('packages/core/src/auth/a.ts: memoryOf uses "memory"; write: catalog cache'),
  ]);
  expect(await found({ "wire/src/shapes/a.ts": content })).toEqual([
    expect.stringContaining('packages/wire/src/shapes/a.ts: claims uses "claims"; write: annotations'),
  ]);
});

test("the list contains every single word that the glossary forbids", async () => {
  const glossary = await readFile(new URL("../../../docs/glossary.md", import.meta.url), "utf8");
  const cells = [...glossary.matchAll(/^\|.*\| ([^|]+) \|$/gm)].map(([, cell]) => cell);
  const words = cells.flatMap((cell) => cell.split(", ")).filter((word) => /^[a-z]+$/.test(word) && word !== "not");
  expect(words.length).toBeGreaterThan(25);
  const listed = new Set([...replaced.keys(), ...otherMeanings.map(({ word }) => word)]);
  expect(words.filter((word) => !listed.has(word))).toEqual([]);
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
