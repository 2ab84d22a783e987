import { expect, test } from "vitest";
import { checkPublicDocs } from "../public-docs.mjs";
import { planted } from "./planted.mjs";

const index = "core/src/index.ts";
const found = async (files) => (await planted(files, (folder) => checkPublicDocs(folder))).violations;

test.each([
  ["without a comment", "export interface A {}\n"],
  ["with the comment of its file only", "/** About the file. */\n\nexport interface A {}\n"],
  ["with a comment that is no TSDoc", "/* A thing. */\nexport interface A {}\n"],
  ["that is not there", "export interface B {}\n"],
])("an export %s is found", async (_, content) => {
  const files = { [index]: 'export type { A } from "./a.ts";\n', "core/src/a.ts": content };
  expect(await found(files)).toEqual(["A (packages/core/src/a.ts): no TSDoc on its declaration"]);
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
