import { expect, test } from "vitest";
import { checkNames } from "../../checks/names.mjs";
import { planted } from "./planted.mjs";

const found = async (files) => (await planted(files, (folder) => checkNames(folder))).uncommented;

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
