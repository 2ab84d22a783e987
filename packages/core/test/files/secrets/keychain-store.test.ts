import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { openKeychainStore } from "../../../src/files/secrets/keychain-store.ts";
import { folderKeychain } from "../../support/folder-keychain.ts";
import { testKilledInKeychain } from "../../support/killed-in-keychain.ts";

testKilledInKeychain(async (directory) => ({ bus: "", keychain: folderKeychain(join(directory, "entries")) }));

const fail = () => Promise.reject(new Error("the prompt was dismissed"));

test.each([
  ["and holds nothing: the name is not listed", true, []],
  ["and cannot say what it holds: the name stays listed, so that it can be removed", false, ["TOKEN"]],
])("a keychain refuses a new secret %s", async (_, isRemovable, names) => {
  await using folder = await temporaryFolder();
  const keychain = folderKeychain(join(folder.path, "entries"));
  const store = openKeychainStore(folder.path, { ...keychain, set: fail, ...(!isRemovable && { remove: fail }) });
  await expect(store.set("TOKEN", "value")).rejects.toThrow("did not store the secret TOKEN: the prompt was dismissed");
  expect(await store.list()).toEqual(names);
  expect(await openKeychainStore(folder.path, keychain).remove("TOKEN")).toBe(!isRemovable);
});

test("a keychain that refuses a new value keeps the old one, and its name", async () => {
  await using folder = await temporaryFolder();
  const keychain = folderKeychain(join(folder.path, "entries"));
  await openKeychainStore(folder.path, keychain).set("TOKEN", "old");
  const store = openKeychainStore(folder.path, { ...keychain, set: fail });
  await expect(store.set("TOKEN", "new")).rejects.toThrow("did not store the secret");
  expect([await store.list(), await store.get("TOKEN")]).toEqual([["TOKEN"], "old"]);
});

test("one process sets a secret while another removes it: what is stored at the end is listed", async () => {
  await using folder = await temporaryFolder();
  const keychain = folderKeychain(join(folder.path, "entries"));
  for (let round = 0; round < 10; round += 1) {
    const [one, other] = [openKeychainStore(folder.path, keychain), openKeychainStore(folder.path, keychain)];
    await Promise.all([one.set("TOKEN", "value"), other.remove("TOKEN")]);
    expect(await one.list()).toEqual((await keychain.get("TOKEN")) === undefined ? [] : ["TOKEN"]);
  }
});
