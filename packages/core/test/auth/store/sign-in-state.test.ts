import { status, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import { setSignInNote, tokenDigest } from "../../../src/auth/store/sign-in-notes.ts";
import { type SignInState, signInStateOf, urlOf } from "../../../src/auth/store/sign-in-state.ts";
import { createWorld, serverOf } from "../../support/load-settings.ts";
import { both } from "../both-servers.ts";
import { person } from "../person.ts";
import { hostFor } from "../signed-in-host.ts";
import { signingIn, storageIn } from "../signing-in.ts";

async function stateAt(serverUrl: string, folder: string): Promise<SignInState["state"]> {
  await using world = await createWorld();
  await world.writeUser({ mcpServers: { docs: { httpUrl: serverUrl } } });
  const { definition } = serverOf(await world.load(), "docs");
  if (definition === undefined) throw new Error("no definition");
  const storage = storageIn({ path: folder } as Parameters<typeof storageIn>[0]);
  const facts = { folder, storage, secret: async () => undefined, googleHosts: [], now: Date.now };
  return (await signInStateOf(definition, facts)).state;
}

const stored: Credentials = {
  serverName: "docs",
  serverUrl: "https://docs.example/mcp",
  resource: "https://docs.example/mcp",
  issuer: "https://login.example",
  client: { clientId: "one" },
  endpoints: { token: "https://login.example/token" },
  tokens: { accessToken: "good", tokenType: "Bearer", obtainedAt: 1 },
};

/** The state of a server with this entry, where nothing is stored. */
async function stateOf(entry: object, googleHosts: readonly string[] = [], more: object = {}): Promise<SignInState> {
  await using world = await createWorld();
  await using folder = await temporaryFolder();
  await world.writeUser({ mcpServers: { docs: entry }, ...more });
  const { definition } = serverOf(await world.load(), "docs");
  if (definition === undefined) throw new Error("no definition");
  const facts = { folder: folder.path, storage: storageIn(folder), secret: async () => undefined, googleHosts };
  return await signInStateOf(definition, { ...facts, now: Date.now });
}

const httpUrl = "https://docs.example/mcp";
const robot = {
  authProviderType: "service_account_impersonation",
  targetAudience: "https://docs.example",
  targetServiceAccount: "r@p.iam.gserviceaccount.com",
};
const google = { authProviderType: "google_credentials", oauth: { scopes: ["https://www.googleapis.com/auth/one"] } };

test.each([
  ["a program", { command: "node" }, { state: "none", by: "program" }],
  ["an own header", { httpUrl, headers: { Authorization: "Bearer x" } }, { state: "none", by: "header" }],
  ["nothing", { httpUrl }, { state: "unknown" }],
  ["an address that is not known", { httpUrl: "https://${NOWHERE_SET}/mcp" }, { state: "unknown" }],
  ["Google", { httpUrl: "https://a.googleapis.com/mcp", ...google }, { state: "none", by: "google" }],
  [
    "Google elsewhere",
    { httpUrl, ...google },
    { state: "none", by: "google", problem: expect.stringContaining("docs.example") },
  ],
  ["a service account", { httpUrl, ...robot }, { state: "none", by: "service_account" }],
  [
    "a service account at an address that is not known",
    { httpUrl: "https://${NOWHERE_SET}/mcp", ...robot },
    { state: "none", by: "service_account" },
  ],
  [
    "a service account without https",
    { ...robot, httpUrl: "http://docs.example/mcp" },
    {
      state: "none",
      by: "service_account",
      problem: '"docs" has no https address, so Fairlead sends it no Google token',
    },
  ],
])("a server that signs in with %s says so before it is connected", async (_, entry, state) => {
  expect(await stateOf(entry)).toEqual(state);
});

test("a server whose token the machine itself requests says so before it is connected", async () => {
  const machineAuth = { clientId: "robot", clientSecret: "s", issuer: "https://login.example" };
  const own = { servers: { docs: { machineAuth } } };
  expect(await stateOf({ httpUrl }, [], { fairlead: own })).toEqual({ state: "none", by: "machine" });
});

test("a mark counts for the token that was refused, and not for one that came after it", async () => {
  await using folder = await temporaryFolder();
  const { serverUrl } = stored;
  const states = [await stateAt(serverUrl, folder.path)];
  await setSignInNote(folder.path, "wanted", { serverUrl }, "");
  states.push(await stateAt(serverUrl, folder.path));
  await storageIn(folder).saveCredentials(stored);
  for (const refused of ["", await tokenDigest("older"), await tokenDigest("good"), undefined]) {
    await setSignInNote(folder.path, "wanted", { serverUrl }, refused);
    states.push(await stateAt(serverUrl, folder.path));
  }
  expect(states).toEqual(["unknown", "needed", "signed_in", "signed_in", "needed", "signed_in"]);
});

test("what fails for now, and what a person calls off, does not make a sign-in needed", async () => {
  await using servers = await both({ refreshTokens: "lasting" });
  await using folder = await temporaryFolder();
  const { url } = servers.guarded;
  const state = () => stateAt(url, `${folder.path}/home/.fairlead`);
  {
    await using host = await hostFor(folder, url, {}, { signIn: person().ui });
    await host.start({ servers: ["docs"] });
  }
  expect(await state()).toBe("signed_in");
  servers.authorization.expireTokens();
  servers.authorization.interrupt("token", status(503));
  {
    await using host = await hostFor(folder, url);
    await host.start({ servers: ["docs"] });
  }
  expect(await state()).toBe("signed_in");
  const again = person({ ui: { again: true, consent: async () => false } });
  {
    await using host = await hostFor(folder, url, {}, { signIn: again.ui });
    await host.start({ servers: ["docs"] });
  }
  expect(await state()).toBe("signed_in");
});

test("what cannot be renewed makes it needed, and a token that is accepted ends that", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const { url } = servers.guarded;
  const home = { ...folder, path: `${folder.path}/home/.fairlead` };
  const start = async () => {
    await using host = await hostFor(folder, url);
    await host.start({ servers: ["docs"] });
  };
  await signingIn(url, person(), home);
  servers.authorization.revokeGrants();
  servers.authorization.expireTokens();
  await start();
  expect(await stateAt(url, home.path)).toBe("needed");
  await signingIn(url, person(), home);
  expect(await stateAt(url, home.path)).toBe("signed_in");
  await start();
  expect(await stateAt(url, home.path)).toBe("signed_in");
});

test("the URL of a server has its secrets and variables in it; without a value it stays as written", async () => {
  await using world = await createWorld();
  const urlWith = async (entry: object, value?: string): Promise<string | undefined> => {
    await world.writeUser({ mcpServers: { docs: entry } });
    const { definition } = serverOf(await world.load(), "docs");
    return definition && urlOf(definition, async () => value);
  };
  const secret = { httpUrl: "https://docs.example/${secret:tenant}/mcp" };
  expect(await urlWith(secret, "acme")).toBe("https://docs.example/acme/mcp");
  expect(await urlWith(secret)).toBe("https://docs.example/${secret:tenant}/mcp");
  expect(await urlWith({ httpUrl })).toBe(httpUrl);
  expect(await urlWith({ command: "node" })).toBeUndefined();
});

test.each([
  [{ expiresAt: 5_000 }, 4_999, "signed_in"],
  [{ expiresAt: 5_000 }, 5_000, "needed"],
  [{ expiresAt: 5_000, refreshToken: "r" }, 5_000, "signed_in"],
  [{}, 5_000, "signed_in"],
])("a token with %j is at %d: %s", async (more, now, state) => {
  await using world = await createWorld();
  await using folder = await temporaryFolder();
  await storageIn(folder).saveCredentials({
    ...stored,
    tokens: { accessToken: "good", tokenType: "Bearer", obtainedAt: 1, ...more },
  });
  await world.writeUser({ mcpServers: { docs: { httpUrl: stored.serverUrl } } });
  const { definition } = serverOf(await world.load(), "docs");
  if (definition === undefined) throw new Error("no definition");
  const facts = { folder: folder.path, storage: storageIn(folder), secret: async () => undefined, googleHosts: [] };
  expect(await signInStateOf(definition, { ...facts, now: () => now })).toMatchObject({ state });
});

/** The state of a server with this stored sign-in. */
async function stateWith(credentials: Credentials): Promise<SignInState> {
  await using world = await createWorld();
  await using folder = await temporaryFolder();
  await storageIn(folder).saveCredentials(credentials);
  await world.writeUser({ mcpServers: { docs: { httpUrl: stored.serverUrl } } });
  const { definition } = serverOf(await world.load(), "docs");
  if (definition === undefined) throw new Error("no definition");
  const facts = { folder: folder.path, storage: storageIn(folder), secret: async () => undefined, googleHosts: [] };
  return await signInStateOf(definition, { ...facts, now: () => 5_000 });
}

test("a stored sign-in is told with its account, its scopes, its hosts and its end", async () => {
  const { tokens: _tokens, ...signedOut } = stored;
  const tokens = { accessToken: "good", tokenType: "Bearer", obtainedAt: 1 };
  const issuer = "https://login.example";
  expect(await stateWith(signedOut)).toEqual({ state: "needed" });
  expect(await stateWith(stored)).toEqual({ state: "signed_in", issuer, scopes: [], isRenewable: false });
  expect(
    await stateWith({
      ...stored,
      account: "ada",
      scopes: ["wanted"],
      endpoints: { token: "https://tokens.example/token" },
      tokens: { ...tokens, refreshToken: "r", expiresAt: 9_000 },
    }),
  ).toEqual({
    state: "signed_in",
    issuer,
    tokenHost: "tokens.example",
    account: "ada",
    scopes: ["wanted"],
    expiresAt: 9_000,
    isRenewable: true,
  });
  expect(await stateWith({ ...stored, scopes: ["wanted"], tokens: { ...tokens, scope: "read list" } })).toMatchObject({
    scopes: ["read", "list"],
  });
});
