import { readFile } from "node:fs/promises";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { setSignInNote, signInNote } from "../../../src/auth/store/sign-in-notes.ts";
import { both } from "../both-servers.ts";
import { person } from "../person.ts";
import { hostFor } from "../signed-in-host.ts";

const serverUrl = "https://docs.example/mcp?key=canary";
const docs = { serverUrl };
const pinned = { serverUrl, pin: "a" };
const other = { serverUrl: "https://other.example/" };

test("a mark stays until it is taken away, each server and each kind by itself", async () => {
  await using folder = await temporaryFolder();
  const { path } = folder;
  await setSignInNote(path, "wanted", docs, "of a token");
  await setSignInNote(path, "wanted", pinned, "");
  await setSignInNote(path, "wanted", other, "");
  await setSignInNote(path, "wanted", other, "of another");
  await setSignInNote(path, "offered", docs, "");
  await setSignInNote(path, "wanted", docs, undefined);
  expect([
    await signInNote(path, "wanted", docs),
    await signInNote(path, "wanted", pinned),
    await signInNote(path, "wanted", { serverUrl: "https://other.example" }),
    await signInNote(path, "offered", docs),
  ]).toEqual([undefined, "", "of another", ""]);
  expect(await readFile(`${path}/sign-ins/marks.json`, "utf8")).not.toContain("canary");
});

test("what is damaged counts as nothing", async () => {
  await using folder = await temporaryFolder();
  await folder.write("sign-ins/marks.json", '{"wanted": [1, null], "offered": "x"}');
  expect(await signInNote(folder.path, "wanted", docs)).toBeUndefined();
  await folder.write("sign-ins/marks.json", "{");
  await setSignInNote(folder.path, "wanted", docs, "");
  expect(await signInNote(folder.path, "wanted", docs)).toBe("");
});

test("a host remembers who wants a sign-in, until the user has signed in", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const isWanted = async () =>
    (await signInNote(`${folder.path}/home/.fairlead`, "wanted", { serverUrl: servers.guarded.url })) !== undefined;
  {
    await using host = await hostFor(folder, servers.guarded.url);
    await host.start({ servers: ["docs"] });
  }
  expect(await isWanted()).toBe(true);
  await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: person().ui });
  await host.start({ servers: ["docs"] });
  expect(await isWanted()).toBe(false);
});
