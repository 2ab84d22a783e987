import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { checkLateLoading, exported, lateFiles } from "../../checks/late-loading.mjs";
import { planted } from "./planted.mjs";

async function violationsOf(files) {
  const { violations } = await planted(files, checkLateLoading);
  return violations;
}

const decide = { "core/src/policy/decide.ts": "export const decide = 1;\n" };

test("a late file that the library's index reaches through other files is found, with the way to it", async () => {
  const violations = await violationsOf({
    ...decide,
    "core/src/index.ts": 'export { host } from "./host.ts";\n',
    "core/src/host.ts": 'import { decide } from "./policy/decide.ts";\nexport const host = decide;\n',
  });
  expect(violations).toEqual([
    "packages/core/src/policy/decide.ts must be loaded with import(): the library reaches it at once, through core/src/host.ts ← core/src/index.ts",
  ]);
});

test.each([
  ["the start of the command", "shell/main.ts"],
  ["the host of the command", "targets/list-servers.ts"],
])("a late file that %s reaches is found", async (program, file) => {
  const violations = await violationsOf({
    ...decide,
    [`cli/src/${file}`]: 'export { decide } from "@fairlead/core/policy/decide";\n',
  });
  expect(violations).toEqual([
    expect.stringContaining(`decide.ts must be loaded with import(): ${program} reaches it`),
  ]);
});

test("a late file behind import(), or imported for its types, is fine", async () => {
  const violations = await violationsOf({
    ...decide,
    "core/src/index.ts": [
      'import type { Decide } from "./policy/decide.ts";',
      'export type Loaded = typeof import("./policy/decide.ts");',
      'export const load = (): Promise<Decide> => import("./policy/decide.ts");',
    ].join("\n"),
  });
  expect(violations).toEqual([]);
});

test("an import() without effect is found, also in a file that is loaded late", async () => {
  const violations = await violationsOf({
    "core/src/index.ts": 'export { text } from "./files/text.ts";\nexport const late = () => import("./late.ts");\n',
    "core/src/late.ts": 'export const text = await import("./files/text.ts");\n',
    "core/src/files/text.ts": "export const text = 1;\n",
  });
  expect(violations).toEqual([
    "packages/core/src/late.ts: import() of packages/core/src/files/text.ts has no effect: the library reaches it at once, through core/src/index.ts",
  ]);
});

test("an import() of a package's named entry is found by the file of that entry", async () => {
  const exports = { "./json": { "fairlead-source": "./src/shapes/json.ts" } };
  const violations = await violationsOf({
    "wire/package.json": JSON.stringify({ name: "@fairlead/wire", exports }),
    "wire/src/shapes/json.ts": "export const json = 1;\n",
    "core/src/index.ts":
      'export { json } from "@fairlead/wire/json";\nexport const late = import("@fairlead/wire/json");\n',
  });
  expect(violations).toEqual([expect.stringContaining("import() of packages/wire/src/shapes/json.ts has no effect")]);
});

test("an import through a door loads the files of the names that it takes, not of types and other names", async () => {
  const exports = { "./policy": { "fairlead-source": "./src/doors/policy.ts" } };
  const files = {
    ...decide,
    "core/package.json": JSON.stringify({ name: "@fairlead/core", exports }),
    "core/src/doors/policy.ts": [
      'export { decide, type Decision } from "../policy/decide.ts";',
      'export { ruleText } from "../policy/rules/rule-text.ts";',
    ].join("\n"),
    "core/src/policy/rules/rule-text.ts": "export const ruleText = 1;\n",
  };
  const entry = "cli/src/shell/main.ts";
  const importing = (names) => ({ ...files, [entry]: `import { ${names} } from "@fairlead/core/policy";\n` });
  expect(await violationsOf(importing("ruleText, type Decision"))).toEqual([]);
  expect(await violationsOf(importing("ruleText, decide as choose"))).toEqual([
    "packages/core/src/policy/decide.ts must be loaded with import(): the start of the command reaches it at once, through cli/src/shell/main.ts",
  ]);
});

test("a file that only a command loads late may be part of the library's index", async () => {
  const violations = await violationsOf({
    "core/src/index.ts": 'export { recorder } from "./recordings/recorder.ts";\n',
    "core/src/recordings/recorder.ts": "export const recorder = 1;\n",
    "cli/src/targets/list-servers.ts": 'export const late = () => import("@fairlead/core/recordings/recorder");\n',
  });
  expect(violations).toEqual([]);
});

test("every late file and every exception of this repository exists", () => {
  const missing = [...lateFiles, ...Object.keys(exported)].filter((file) => !existsSync(`packages/core/src/${file}`));
  expect(missing).toEqual([]);
});
