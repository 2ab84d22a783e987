import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { authorizationServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createRotatedTokens } from "../../../src/auth/oauth/refresh.ts";
import { signedIn, tokenOf, url } from "../keeper-scene.ts";
import { signInByHand } from "../sign-in-by-hand.ts";

test("tokens that a killed process got and did not store are found by the next, without another refresh", async () => {
  await using scene = await signedIn({ refreshTokens: "rotating" });
  // As if killed: nothing after the token response takes effect.
  scene.storage.saveCredentials = () => Promise.reject(new Error("killed"));
  await expect(scene.keeper.refused(url, scene.firstToken)).rejects.toThrow("killed");
  const next = scene.another();
  const renewed = await next.keeper.refused(url, scene.firstToken);
  expect(scene.server.findLiveToken(tokenOf(renewed) ?? "")).toBeDefined();
  expect(scene.refreshes()).toBe(1);
  expect(await next.storage.getCredentials(url)).toEqual(renewed);
  // The note is gone; the next refresh is a real one.
  scene.server.expireTokens();
  expect(tokenOf(await next.keeper.refused(url, tokenOf(renewed)))).not.toBe(tokenOf(renewed));
  expect(scene.refreshes()).toBe(2);
});

test("a note can be read only with the refresh token that it replaces, and holds no token in plain text", async () => {
  await using folder = await temporaryFolder();
  await using server = await authorizationServer();
  const credentials = await signInByHand(server, url);
  const notes = createRotatedTokens(folder.path);
  expect(await notes.read("oauth.a", "old")).toBeUndefined();
  notes.write("oauth.a", "old", credentials);
  const file = join(folder.path, (await readdir(folder.path))[0] ?? "");
  const text = await readFile(file, "utf8");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  for (const secret of server.secrets) expect(text).not.toContain(secret);
  expect(await notes.read("oauth.a", "old")).toEqual(credentials);
  expect(await notes.read("oauth.a", "other")).toBeUndefined();
  for (const damaged of ["", "x", text.slice(0, 20), `${text.slice(0, -6)}AAAA\n`]) {
    await writeFile(file, damaged);
    expect(await notes.read("oauth.a", "old")).toBeUndefined();
  }
  notes.remove("oauth.a");
  expect(await readdir(folder.path)).toEqual([]);
});

test("a folder that cannot be written costs the note, and nothing else", async () => {
  await using folder = await temporaryFolder();
  await using server = await authorizationServer();
  const notes = createRotatedTokens(await folder.write("file", ""));
  notes.write("oauth.a", "old", await signInByHand(server, url));
  notes.remove("oauth.a");
  expect(await notes.read("oauth.a", "old")).toBeUndefined();
});
