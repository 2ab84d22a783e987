import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { MCPOAuthProvider } from "../../../src/auth/oauth/oauth-provider.ts";
import { openTokenStorage, signInFolder } from "../../../src/auth/store/token-storage.ts";

function providerIn(folder: string): MCPOAuthProvider {
  const storage = openTokenStorage({ state: folder, env: {}, platform: "linux" });
  return new MCPOAuthProvider({ storage, lockFolder: signInFolder(folder), env: {} });
}

test("the provider has one keeper of tokens for each server definition", async () => {
  await using folder = await temporaryFolder();
  const provider = providerIn(folder.path);
  const [one, same, other] = await Promise.all([provider.keeper("a"), provider.keeper("a"), provider.keeper("b")]);
  expect(same).toBe(one);
  expect(other).not.toBe(one);
  expect(await provider.keeper("a")).toBe(one);
});

test("before a sign-in, the provider returns no token", async () => {
  await using folder = await temporaryFolder();
  expect(await providerIn(folder.path).getValidToken("https://docs.example/mcp")).toBeUndefined();
});
