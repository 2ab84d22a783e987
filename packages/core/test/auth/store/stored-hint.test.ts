import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { isPerhapsStored } from "../../../src/auth/store/sign-in-state.ts";
import { secretNameOf } from "../../../src/auth/store/token-storage.ts";

const url = "https://h/mcp";

test("where nothing is stored, nothing is", async () => {
  await using folder = await temporaryFolder();
  expect(await isPerhapsStored(folder.path, url)).toBe(false);
});

test.each(["secrets.json", "secret-names.json"])("a name in %s is one that may be stored", async (file) => {
  await using folder = await temporaryFolder();
  await folder.write(`sign-ins/${file}`, {
    [await secretNameOf(url)]: "x",
    [await secretNameOf("https://other/", "pin")]: "y",
  });
  expect(await isPerhapsStored(folder.path, url)).toBe(true);
  expect(await isPerhapsStored(folder.path, "HTTPS://h:443/mcp#x")).toBe(true);
  expect(await isPerhapsStored(folder.path, "https://other/", "pin")).toBe(true);
  for (const [other, pin] of [["https://h/"], [url, "pin"], ["https://other/"], ["nonsense"]] as const)
    expect(await isPerhapsStored(folder.path, other, pin)).toBe(false);
});

test("a sign-in may be stored if only one of two files contains its name", async () => {
  await using folder = await temporaryFolder();
  await folder.write("sign-ins/secrets.json", { [await secretNameOf(url)]: "x" });
  await folder.write("sign-ins/secret-names.json", { other: "y" });
  expect(await isPerhapsStored(folder.path, url)).toBe(true);
});

test("a file that cannot be read may hold anything", async () => {
  await using folder = await temporaryFolder();
  // A folder in the place of a file is not readable for any user.
  await mkdir(join(folder.path, "sign-ins/secrets.json"), { recursive: true });
  expect(await isPerhapsStored(folder.path, url)).toBe(true);
  expect(await isPerhapsStored(folder.path, "nonsense")).toBe(false);
});
