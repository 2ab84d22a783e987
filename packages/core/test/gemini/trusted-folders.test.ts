import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ideCompanion, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isWorkspaceTrusted, loadTrustedFolders, TrustLevel } from "../../src/gemini/index.ts";
import type { Environment } from "../../src/index.ts";

let folder: TemporaryFolder;
let environment: Environment;

beforeEach(async () => {
  folder = await temporaryFolder();
  const env = { HOME: folder.path, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder.path, "none.json") };
  environment = { env, home: folder.path, cwd: folder.path, platform: process.platform };
  await mkdir(join(folder.path, "work/project"), { recursive: true });
  await mkdir(join(folder.path, "work/other"), { recursive: true });
});
afterEach(() => folder[Symbol.asyncDispose]());

test("the three levels decide about a folder and those in it; without a rule nothing is said", async () => {
  const project = join(folder.path, "work/project");
  const folders = await loadTrustedFolders(environment);
  expect([folders.rules, await folders.isPathTrusted(project)]).toEqual([[], undefined]);
  await folders.setValue(project, TrustLevel.TRUST_PARENT);
  expect(await folders.isPathTrusted(join(folder.path, "work/other"))).toBe(true);
  await folders.setValue(project, TrustLevel.TRUST_FOLDER);
  expect(await folders.isPathTrusted(join(project, "inside"))).toBe(true);
  expect(await folders.isPathTrusted(join(folder.path, "work/other"))).toBeUndefined();
  expect(await isWorkspaceTrusted(project, environment)).toBe(true);
  await folders.setValue(project, TrustLevel.DO_NOT_TRUST);
  expect([await folders.isPathTrusted(project), await isWorkspaceTrusted(project, environment)]).toEqual([
    false,
    false,
  ]);
  const again = await loadTrustedFolders(environment);
  expect(again.rules).toEqual([{ path: expect.stringMatching(/project$/), trustLevel: "DO_NOT_TRUST" }]);
});

test("the IDE goes before the file", async () => {
  const project = join(folder.path, "work/project");
  await (await loadTrustedFolders(environment)).setValue(project, TrustLevel.TRUST_FOLDER);
  await using companion = await ideCompanion({ isTrusted: false });
  const env = { ...environment.env, ...companion.variables(project), TMPDIR: join(folder.path, "none") };
  expect(await isWorkspaceTrusted(project, { ...environment, env })).toBe(false);
  expect(await isWorkspaceTrusted(project, environment)).toBe(true);
});

test("a wrong argument is named", async () => {
  const folders = await loadTrustedFolders(environment);
  await expect(folders.isPathTrusted("")).rejects.toMatchObject({ code: "usage" });
  await expect(folders.setValue(folder.path, "YES" as TrustLevel)).rejects.toThrow(
    '"trustLevel" must be one of TRUST_FOLDER, TRUST_PARENT, DO_NOT_TRUST, not a string',
  );
  await expect(loadTrustedFolders(5 as never)).rejects.toMatchObject({ code: "usage" });
  await expect(isWorkspaceTrusted("")).rejects.toMatchObject({ code: "usage" });
});
