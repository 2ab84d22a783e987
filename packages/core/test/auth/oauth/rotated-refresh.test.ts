import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createTokenKeeper } from "../../../src/auth/oauth/refresh.ts";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import { createRotatedTokens } from "../../../src/auth/store/rotated-tokens.ts";
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

/** A process with its own storage and keeper. `during` runs while the authorization server answers. */
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

test("after new tokens could not be stored, another process finds them, and asks for no others", async () => {
  await using folder = await temporaryFolder();
  const killed = processIn(folder.path);
  await killed.storage.saveCredentials(first);
  killed.storage.saveCredentials = () => Promise.reject(new Error("the disk is full"));
  await expect(killed.keeper.refused(url, "a0")).rejects.toThrow("the disk is full");
  expect(killed.asked).toEqual([url]);
  const other = processIn(folder.path);
  expect((await other.keeper.refused(url, "a0"))?.tokens).toMatchObject({ accessToken: "a1", refreshToken: "r1" });
  expect(other.asked).toEqual([]);
  const rotated = createRotatedTokens(signInFolder(folder.path));
  expect(await rotated.read(await other.storage.nameOf(url), "r0")).toBeUndefined();
});

test("a process keeps new tokens that could not be stored, even without their file", async () => {
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

test("if the user signs in again during a refresh, the refreshed tokens are dropped", async () => {
  await using folder = await temporaryFolder();
  const signedIn = { ...first, tokens: { accessToken: "b0", tokenType: "Bearer", obtainedAt: 0, refreshToken: "s0" } };
  const other = processIn(folder.path);
  const { storage, keeper } = processIn(folder.path, () => other.storage.saveCredentials(signedIn));
  await storage.saveCredentials(first);
  expect(await keeper.refused(url, "a0")).toEqual(signedIn);
  const rotated = createRotatedTokens(signInFolder(folder.path));
  expect(await rotated.read(await storage.nameOf(url), "r0")).toBeUndefined();
});
