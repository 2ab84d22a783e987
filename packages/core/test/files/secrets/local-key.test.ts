import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { localKey } from "../../../src/files/secrets/local-key.ts";

test("a key is made once, for its owner alone, and found again", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "state", "a.key");
  const key = await localKey(file);
  expect(key).toHaveLength(32);
  expect(await localKey(file)).toEqual(key);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await localKey(join(folder.path, "b.key"))).not.toEqual(key);
});

test("of many who make it at once, all get the same, and nothing else is left", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "a.key");
  const keys = await Promise.all(Array.from({ length: 20 }, () => localKey(file)));
  expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(1);
  expect(await readdir(folder.path)).toEqual(["a.key"]);
});

test("a damaged key is replaced", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "a.key");
  await writeFile(file, "rubbish");
  const key = await localKey(file);
  expect(await localKey(file)).toEqual(key);
});
