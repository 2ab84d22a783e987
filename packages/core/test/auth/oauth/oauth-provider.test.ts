import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { MCPOAuthProvider } from "../../../src/auth/oauth/oauth-provider.ts";
import { openTokenStorage, signInFolder } from "../../../src/auth/store/token-storage.ts";

test("all callers for one server definition share one keeper, so they share one renewal", async () => {
  await using folder = await temporaryFolder();
  const storage = openTokenStorage({ state: folder.path, env: {}, platform: "linux" });
  const provider = new MCPOAuthProvider({ storage, lockFolder: signInFolder(folder.path), env: {} });
  const [one, same, other] = await Promise.all([provider.keeper("a"), provider.keeper("a"), provider.keeper("b")]);
  expect(same).toBe(one);
  expect(other).not.toBe(one);
  expect(await provider.keeper("a")).toBe(one);
  expect(await provider.getValidToken("https://docs.example/mcp")).toBeUndefined();
});
