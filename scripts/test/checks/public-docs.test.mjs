import { expect, test } from "vitest";
import { checkPublicDocs } from "../../checks/public-docs.mjs";
import { planted } from "./planted.mjs";

const index = "core/src/index.ts";
const found = async (files) => (await planted(files, (folder) => checkPublicDocs(folder, ["index.ts"]))).violations;
const handedOn = (content) => ({ [index]: 'export type { A } from "./a.ts";\n', "core/src/a.ts": content });

test.each([
  ["without a comment", "export interface A {}\n"],
  ["with the comment of its file only", "/** About the file. */\n\nexport interface A {}\n"],
  ["with a comment that is no TSDoc", "/* A thing. */\nexport interface A {}\n"],
])("an export %s is found", async (_, content) => {
  expect(await found(handedOn(content))).toEqual(["A (packages/core/src/a.ts): no TSDoc on its declaration"]);
});

test("an export that is declared nowhere is an error", async () => {
  await expect(found(handedOn("export interface B {}\n"))).rejects.toThrow("exports A, which is declared nowhere");
});

test("an export is followed through files that hand it on", async () => {
  const files = {
    [index]: 'export { type A, b } from "./a.ts";\nexport type { C } from "./a.ts";\n',
    "core/src/a.ts":
      'export type * from "./types.ts";\nexport { b } from "./b.ts";\nexport type { C } from "@fairlead/wire";\n',
    "core/src/types.ts": "/** A thing. */\nexport interface A {}\n",
    "core/src/b.ts": "export async function b() {}\n",
    "wire/src/index.ts": 'export type { C } from "./c.ts";\n',
    "wire/src/c.ts": "/**\n * A thing.\n */\nexport type C = 1;\n",
  };
  expect(await found(files)).toEqual(["b (packages/core/src/b.ts): no TSDoc on its declaration"]);
});

test("every name that comes through a star is checked", async () => {
  const files = {
    [index]: 'export type * from "./types.ts";\n',
    "core/src/types.ts": 'export type { B } from "./b.ts";\n/** A thing. */\nexport interface A {}\n',
    "core/src/b.ts": "export type B = 1;\n",
  };
  expect(await found(files)).toEqual(["B (packages/core/src/b.ts): no TSDoc on its declaration"]);
});

test.each([
  ["a declaration", "export const a = 1;\n"],
  ["an export list", "const a = 1;\nexport { a };\n"],
])("%s in the index itself is checked", async (_, content) => {
  expect(await found({ [index]: content })).toEqual([`a (packages/${index}): no TSDoc on its declaration`]);
  expect(await found({ [index]: `/** A thing. */\n${content}` })).toEqual([]);
});

test("the entry points beside the index are checked", async () => {
  const files = {
    [index]: "",
    "core/src/testing.ts": "export const a = 1;\n",
    "core/src/text/index.ts": "export const b = 1;\n",
  };
  const { violations } = await planted(files, (folder) => checkPublicDocs(folder));
  expect(violations).toEqual([
    "a (packages/core/src/testing.ts): no TSDoc on its declaration",
    "b (packages/core/src/text/index.ts): no TSDoc on its declaration",
  ]);
});
