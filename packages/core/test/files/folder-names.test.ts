import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createFolderNames } from "../../src/files/folder-names.ts";

test("a folder that does not exist is empty, and a file that is written later is found", async () => {
  await using folder = await temporaryFolder();
  expect(await createFolderNames(join(folder.path, "none")).isEmpty()).toBe(true);
  const names = createFolderNames(folder.path);
  expect(await Promise.all([names.isEmpty(), names.mayHave("a")])).toEqual([true, false]);
  await writeFile(join(folder.path, "a"), "");
  expect(await Promise.all([names.isEmpty(), names.mayHave("a"), names.mayHave("b")])).toEqual([false, true, false]);
});

test("a folder that cannot be listed may have every file", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "file"), "");
  const names = createFolderNames(join(folder.path, "file"));
  expect(await names.mayHave("a")).toBe(true);
  expect(await names.isEmpty()).toBe(false);
});
