import { join } from "node:path";
import type { Credentials } from "@fairlead/core/auth/store/credentials";
import { openTokenStorage } from "@fairlead/core/auth/store/token-storage";
import { status } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { type SignInScene, signInScene } from "../../support/sign-in-scene.ts";

const tokens = { accessToken: "canary-access", tokenType: "Bearer", refreshToken: "canary-refresh", obtainedAt: 0 };

function storageOf({ here }: SignInScene) {
  return openTokenStorage({ state: join(here.home, ".fairlead"), env: here.env, platform: process.platform });
}

async function store(scene: SignInScene, changes: Partial<Credentials> = {}): Promise<void> {
  const { issuer } = scene.authorization;
  await storageOf(scene).saveCredentials({
    serverName: "docs",
    serverUrl: scene.guarded.url,
    resource: scene.guarded.url,
    issuer,
    client: { clientId: "known", redirectUri: "http://127.0.0.1:1/back" },
    endpoints: { token: `${issuer}/token`, revocation: `${issuer}/revoke` },
    tokens,
    account: "me@example.com",
    scopes: ["read"],
    ...changes,
  });
}

test("what is signed in to is shown, and no token with it", async () => {
  await using scene = await signInScene();
  await store(scene);
  const { issuer } = scene.authorization;
  const words = `signed in as me@example.com at ${issuer}, for read`;
  const shown = await scene.here.run("mcp", "get", "docs");
  expect(shown.stdout).toMatch(/^ +signed in +signed in as me@example.com at /m);
  expect((await scene.here.run("mcp", "auth")).stdout).toBe(`docs  ${words}\n`);
  const cached = await scene.here.run("mcp", "list", "--cached", "--verbose");
  expect(cached.stdout).toContain(`  ${words}\n`);
  const { stdout } = await scene.here.run("mcp", "get", "docs", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    signIn: { state: "signed_in", issuer, account: "me@example.com", scopes: ["read"], isRenewable: true },
  });
  for (const text of [shown.stdout, cached.stdout, stdout]) expect(text).not.toContain("canary");
});

test("what cannot be revoked is said, and forgotten all the same", async () => {
  await using scene = await signInScene();
  const { issuer } = scene.authorization;
  await store(scene);
  scene.authorization.interrupt("revoke", status(500), 2);
  expect(await scene.here.run("mcp", "logout", "docs")).toEqual({
    code: 0,
    stdout: 'signed out of "docs" on this machine\n',
    stderr: `warning: ${issuer} did not revoke the tokens; the tokens may stay valid; to be sure, revoke Fairlead's access on the website of the authorization server\n`,
  });
  expect(await storageOf(scene).listServers()).toEqual([]);
});

test("an authorization server that cannot revoke is named, with the end of what it gave", async () => {
  await using scene = await signInScene();
  const { issuer } = scene.authorization;
  const { refreshToken: _none, ...access } = tokens;
  await store(scene, {
    endpoints: { token: `${issuer}/token` },
    tokens: { ...access, expiresAt: Date.UTC(2100, 0, 1) },
  });
  expect((await scene.here.run("mcp", "logout", "docs")).stderr).toBe(
    `warning: ${issuer} does not support revoking tokens; the tokens may stay valid until 2100-01-01T00:00:00.000Z\n`,
  );
});

test("--all takes those along that are configured no longer", async () => {
  const client = { clientId: "known", redirectUris: ["http://127.0.0.1:1/back"] };
  await using scene = await signInScene({ authorization: { clients: [client] } });
  const { issuer } = scene.authorization;
  await store(scene);
  await store(scene, { serverName: "gone", serverUrl: "https://gone.example/mcp" });
  const { stdout } = await scene.here.run("mcp", "logout", "--all", "--json");
  const rows = [
    { name: "docs", url: new URL(scene.guarded.url).origin, issuer, revocation: "revoked" },
    { name: "gone", url: "https://gone.example", issuer, revocation: "failed" },
  ];
  expect(JSON.parse(stdout)).toEqual({ schemaVersion: 1, servers: expect.arrayContaining(rows) as object });
  expect(await scene.here.run("mcp", "logout", "--all")).toMatchObject({
    code: 0,
    stdout: "No server is signed in.\n",
  });
});

test("a server goes by the name that it had, too; an unknown name is a mistake", async () => {
  await using scene = await signInScene();
  await store(scene, { serverName: "before" });
  expect((await scene.here.run("mcp", "logout", "before")).stdout).toContain('signed out of "before"');
  expect(await scene.here.run("mcp", "logout", "before")).toMatchObject({ code: 2 });
  expect((await scene.here.run("mcp", "logout", "docs")).stdout).toBe('"docs" is not signed in.\n');
  expect(await scene.here.run("mcp", "logout")).toMatchObject({ code: 2 });
  expect(await scene.here.run("mcp", "logout", "docs", "--all")).toMatchObject({ code: 2 });
});
