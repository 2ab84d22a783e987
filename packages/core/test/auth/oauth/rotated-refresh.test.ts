import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createRotatedTokens, createTokenKeeper } from "../../../src/auth/oauth/refresh.ts";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import { openTokenStorage, signInFolder } from "../../../src/auth/store/token-storage.ts";
import { manualClock } from "../../support/manual-clock.ts";

const url = "https://docs.example/mcp";
const first: Credentials = {
  serverName: "docs",
  serverUrl: url,
  resource: url,
  issuer: "https://login.example",
  client: { clientId: "id" },
  endpoints: { token: "https://login.example/token" },
  tokens: { accessToken: "a0", tokenType: "Bearer", obtainedAt: 0, refreshToken: "r0" },
};

/**
 * A process with its own storage and keeper. `during` runs while the authorization server answers. `asked`: the URL of
 * the MCP server for each refresh.
 */
function processIn(folder: string, during: () => Promise<void> = async () => {}) {
  const storage = openTokenStorage({ state: folder, env: {}, platform: "linux" });
  const asked: unknown[] = [];
  const clock = manualClock();
  const keeper = createTokenKeeper({
    storage,
    lockFolder: signInFolder(folder),
    fetchFor: (near) => async () => {
      asked.push(near);
      await during();
      return Response.json({ access_token: "a1", token_type: "Bearer", refresh_token: "r1" });
    },
    clock,
    now: () => clock.now(),
    random: () => 0,
  });
  return { storage, keeper, asked };
}

test("if a process cannot store refreshed tokens, another process finds and stores them without a refresh", async () => {
  await using folder = await temporaryFolder();
  const failing = processIn(folder.path);
  await failing.storage.saveCredentials(first);
  failing.storage.saveCredentials = () => Promise.reject(new Error("the disk is full"));
  await expect(failing.keeper.refused(url, "a0")).rejects.toThrow("the disk is full");
  expect(failing.asked).toEqual([url]);
  const other = processIn(folder.path);
  expect((await other.keeper.refused(url, "a0"))?.tokens).toMatchObject({ accessToken: "a1", refreshToken: "r1" });
  expect(other.asked).toEqual([]);
  expect((await other.storage.getCredentials(url))?.tokens).toMatchObject({ accessToken: "a1", refreshToken: "r1" });
  const rotated = createRotatedTokens(signInFolder(folder.path));
  expect(await rotated.read(await other.storage.nameOf(url), "r0")).toBeUndefined();
});

test("a process that cannot store refreshed tokens keeps them in memory, also if the file with them is gone", async () => {
  await using folder = await temporaryFolder();
  const { storage, keeper, asked } = processIn(folder.path);
  await storage.saveCredentials(first);
  const save = storage.saveCredentials.bind(storage);
  storage.saveCredentials = () => Promise.reject(new Error("the disk is full"));
  await expect(keeper.refused(url, "a0")).rejects.toThrow("the disk is full");
  createRotatedTokens(signInFolder(folder.path)).remove(await storage.nameOf(url));
  storage.saveCredentials = save;
  expect((await keeper.refused(url, "a0"))?.tokens?.accessToken).toBe("a1");
  expect(asked).toEqual([url]);
});

test("if the user signs in again during a refresh, the keeper returns the new sign-in and drops the refreshed tokens", async () => {
  await using folder = await temporaryFolder();
  const signedIn = { ...first, tokens: { accessToken: "b0", tokenType: "Bearer", obtainedAt: 0, refreshToken: "s0" } };
  const other = processIn(folder.path);
  const { storage, keeper } = processIn(folder.path, () => other.storage.saveCredentials(signedIn));
  await storage.saveCredentials(first);
  expect(await keeper.refused(url, "a0")).toEqual(signedIn);
  const rotated = createRotatedTokens(signInFolder(folder.path));
  expect(await rotated.read(await storage.nameOf(url), "r0")).toBeUndefined();
});
