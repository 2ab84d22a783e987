import { expect, test } from "vitest";
import { checkImports } from "../../checks/imports.mjs";
import { ranks } from "../../checks/layers.mjs";
import { planted } from "./planted.mjs";

async function violationsOf(files) {
  const { modules, violations } = await planted(files, (folder) => checkImports(folder));
  expect(modules).toBeGreaterThanOrEqual(Object.keys(files).length);
  return violations;
}

test("a type-only import that points right is found", async () => {
  const violations = await violationsOf({
    "core/src/settings/a.ts": 'import { b } from "../connect/b.ts";\nexport const a = b;\n',
    "core/src/connect/b.ts": "export const b = 1;\n",
  });
  expect(violations).toEqual([
    "packages/core/src/settings/a.ts → packages/core/src/connect/b.ts (settings-points-left)",
  ]);
});

test("the index may export the seeds' classes", async () => {
  const violations = await violationsOf({
    "core/src/index.ts": 'export { b } from "./gemini/b.ts";\n',
    "core/src/gemini/b.ts": "export const b = 1;\n",
  });
  expect(violations).toEqual([]);
});

test("a door may export names of every folder and of the host", async () => {
  const violations = await violationsOf({
    "core/src/doors/a.ts": 'export { b } from "../host.ts";\nexport { c } from "../files/c.ts";\n',
    "core/src/host.ts": "export const b = 1;\n",
    "core/src/files/c.ts": "export const c = 1;\n",
  });
  expect(violations).toEqual([]);
});

test("an import that points left or at a leaf is fine", async () => {
  const violations = await violationsOf({
    "core/src/connect/a.ts": 'export { b } from "../settings/b.ts";\nexport { c } from "../errors.ts";\n',
    "core/src/settings/b.ts": "export const b = 1;\n",
    "core/src/errors.ts": "export const c = 1;\n",
  });
  expect(violations).toEqual([]);
});

test("types may come from the right, and a cycle of types is fine", async () => {
  const violations = await violationsOf({
    "core/src/settings/a.ts": 'import type { B } from "../connect/b.ts";\nexport type A = B;\n',
    "core/src/connect/b.ts": 'import type { A } from "../settings/a.ts";\nexport type B = 1 | A[];\n',
  });
  expect(violations).toEqual([]);
});

test.each([
  ["a leaf that imports a rank", "core/src/text/a.ts", 'export { b } from "../files/b.ts";', "core/src/files/b.ts"],
  ["a folder without a rank", "core/src/files/a.ts", 'export { b } from "../utils/b.ts";', "core/src/utils/b.ts"],
  ["a folder that imports the host", "core/src/turn/a.ts", 'export { b } from "../host.ts";', "core/src/host.ts"],
  ["a wire that knows the host", "wire/src/a.ts", 'export { b } from "../../core/src/b.ts";', "core/src/b.ts"],
  [
    "a command that loads the seeds' classes",
    "cli/src/a.ts",
    'export { b } from "@fairlead/core/gemini/b";',
    "core/src/gemini/b.ts",
  ],
  [
    "a host that loads the seeds' classes",
    "core/src/host.ts",
    'export { b } from "./gemini/b.ts";',
    "core/src/gemini/b.ts",
  ],
  ["a core that uses its own doors", "core/src/host.ts", 'export { b } from "./doors/b.ts";', "core/src/doors/b.ts"],
  ["a core that knows a front door", "core/src/host.ts", 'export { b } from "../../cli/src/b.ts";', "cli/src/b.ts"],
])("%s is refused", async (_, from, content, to) => {
  const violations = await violationsOf({ [from]: content, [to]: "export const b = 1;\n" });
  expect(violations.length).toBeGreaterThan(0);
});

test.each([
  ["a .tsx file", 'import { b } from "../connect/b.ts";', "core/src/settings/a.tsx", "core/src/connect/b.ts"],
  [
    "a .tsx file, later",
    'const b = await import("../connect/b.ts");',
    "core/src/settings/a.tsx",
    "core/src/connect/b.ts",
  ],
  ["a .tsx file, by name", 'export * from "@fairlead/core/b";', "wire/src/a.tsx", "core/src/b.ts"],
  [
    "a .ts file, at a .tsx file",
    'import { b } from "../connect/b.tsx";',
    "core/src/settings/a.ts",
    "core/src/connect/b.tsx",
  ],
])("an import that points right is found in %s", async (_, content, from, to) => {
  const jsx = from.endsWith("x") ? "\nexport const view = <p>{1}</p>;" : "";
  const violations = await violationsOf({ [from]: `${content}${jsx}\nexport {};\n`, [to]: "export const b = 1;\n" });
  expect(violations).toEqual([expect.stringContaining(`packages/${from} → packages/${to} (`)]);
});

test("a .tsx file may import what is to its left, and packages", async () => {
  const violations = await violationsOf({
    "cli/src/a.tsx": 'import { Box } from "ink";\nimport "@fairlead/core/b";\nexport const view = <Box />;\n',
    "core/src/b.ts": "export const b = 1;\n",
  });
  expect(violations).toEqual([]);
});

test("folders of one rank may import each other, in either direction", async () => {
  const violations = await violationsOf({
    "core/src/settings/a.ts": 'export { b } from "../trust/b.ts";\n',
    "core/src/trust/b.ts": 'export { c as b } from "../settings/c.ts";\n',
    "core/src/settings/c.ts": "export const c = 1;\n",
  });
  expect(violations).toEqual([]);
});

test("a cycle of files within a rank is found", async () => {
  const violations = await violationsOf({
    "core/src/settings/a.ts": 'import { b } from "../trust/b.ts";\nexport const a = () => b;\n',
    "core/src/trust/b.ts": 'import { a } from "../settings/a.ts";\nexport const b = () => a;\n',
  });
  expect(violations).toEqual(["packages/core/src/settings/a.ts → packages/core/src/trust/b.ts (no-cycles)"]);
});

test("the ranks stand in the order of the flow", () => {
  expect(ranks.slice(0, 3)).toEqual([
    ["files", "telemetry"],
    ["settings", "trust"],
    ["auth", "net"],
  ]);
});
