import { temporaryFolder } from "@fairlead/test-servers";
import type { Challenge } from "@fairlead/wire";
import { expect, test } from "vitest";
import { createAuthHook } from "../../src/auth/auth-hook.ts";
import { newDpopKey } from "../../src/auth/oauth/dpop.ts";
import { claimsOf } from "../../src/auth/oauth/jwt.ts";
import type { Credentials } from "../../src/auth/store/credentials.ts";
import { both } from "./both-servers.ts";
import { asked, person } from "./person.ts";
import { hostFor, stateOf } from "./signed-in-host.ts";
import { storageIn } from "./signing-in.ts";

const credentials: Credentials = {
  serverName: "docs",
  serverUrl: "https://h/mcp",
  resource: "https://h/mcp",
  issuer: "https://issuer",
  client: { clientId: "c" },
  endpoints: { token: "https://issuer/token" },
  scopes: ["read"],
  tokens: { accessToken: "token", tokenType: "Bearer", obtainedAt: 0, scope: "read" },
};

function refusal(status: 401 | 403, wwwAuthenticate: string, more: Partial<Challenge> = {}): Challenge {
  const sent = { authorization: "Bearer token" };
  return { status, url: "https://h/mcp", wwwAuthenticate, headers: {}, sent, attempt: 0, ...more };
}

const signal = new AbortController().signal;
const server = { serverName: "docs", serverUrl: "https://h/mcp" };
const keeper = async () => ({ current: async () => credentials, refused: async () => undefined });

test("nothing is opened for a server of which nothing is stored", async () => {
  const hook = createAuthHook({
    ...server,
    hasCredentials: async () => false,
    keeper: () => Promise.reject(new Error("opened")),
  });
  expect(await hook.headers({ url: "https://h/mcp", method: "POST" })).toEqual({});
  expect(await hook.challenged(refusal(401, "Bearer"), signal)).toBe(false);
});

test("a token goes to its own server, and to no other", async () => {
  const hook = createAuthHook({ ...server, hasCredentials: async () => true, keeper });
  const headers = async (url: string) => hook.headers({ url, method: "POST" });
  expect(await headers("https://h/messages?session=1")).toEqual({ authorization: "Bearer token" });
  for (const url of ["http://h/mcp", "https://h:444/mcp", "https://other/mcp", "https://h.other/mcp"])
    expect(await headers(url)).toEqual({});
});

test("a refusal that does not ask for scopes is one", async () => {
  const hook = createAuthHook({ ...server, hasCredentials: async () => true, keeper, signIn: async () => credentials });
  expect(await hook.challenged(refusal(403, "Bearer"), signal)).toBe(false);
  expect(await hook.challenged(refusal(403, 'Bearer error="invalid_request"'), signal)).toBe(false);
});

test("who was refused with an older token tries again with the newer one", async () => {
  const hook = createAuthHook({ ...server, hasCredentials: async () => true, keeper });
  const older = refusal(403, 'Bearer error="insufficient_scope", scope="write"', {
    sent: { authorization: "Bearer older" },
  });
  expect(await hook.challenged(older, signal)).toBe(true);
});

test("a server that refuses the token it has just been brought is not asked a third time", async () => {
  let signIns = 0;
  const hook = createAuthHook({
    ...server,
    hasCredentials: async () => false,
    keeper,
    async signIn() {
      signIns += 1;
      return credentials;
    },
  });
  expect(await hook.challenged(refusal(401, "Bearer", { sent: {} }), signal)).toBe(true);
  await expect(hook.challenged(refusal(401, "Bearer", { attempt: 1 }), signal)).rejects.toMatchObject({
    code: "auth_failed",
    message: '"docs" rejected the token of a new sign-in',
  });
  expect(signIns).toBe(1);
});

test("calls that are refused side by side sign in once", async () => {
  await using servers = await both({}, { scopes: ["read"], toolScopes: { echo: ["write"] } });
  await using folder = await temporaryFolder();
  const someone = person();
  await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: someone.ui });
  await host.start({ servers: ["docs"] });
  const calls = Array.from({ length: 8 }, () => host.call("docs", "echo", { text: "hi" }));
  expect((await Promise.all(calls)).map(({ isError }) => isError)).toEqual(Array(8).fill(false));
  expect(someone.opened.length).toBe(2);
});

test("two servers that want a sign-in ask one after the other", async () => {
  await using servers = await both();
  await using others = await both();
  await using folder = await temporaryFolder();
  let [underWay, most] = [0, 0];
  const someone = person({
    ui: {
      async consent() {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise(setImmediate);
        return true;
      },
      show(message) {
        if (message.kind === "signed_in") underWay -= 1;
      },
    },
  });
  const entry = { httpUrl: servers.guarded.url };
  await using host = await hostFor(folder, others.guarded.url, { beside: { other: entry } }, { signIn: someone.ui });
  await host.start({ servers: ["docs", "other"] });
  expect(host.states().slice(0, 2)).toMatchObject([{ status: "connected" }, { status: "connected" }]);
  expect(most).toBe(1);
});

test("a user who wants to sign in again is asked, although a token is stored", async () => {
  await using servers = await both({ scopes: ["read", "write"] });
  await using folder = await temporaryFolder();
  for (const again of [false, true]) {
    const someone = person({ ui: { again, ...(again && { scopes: ["write"] }) } });
    await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: someone.ui });
    await host.start({ servers: ["docs"] });
    expect(stateOf(host)).toMatchObject({ status: "connected" });
    expect(someone.opened.length).toBe(1);
    if (again) expect(asked(someone, "scope")).toBe("write");
  }
});

test("another account finds another catalog", async () => {
  await using servers = await both({ scopes: ["openid"] }, { scopes: ["openid"] });
  await using folder = await temporaryFolder();
  const known: boolean[] = [];
  for (const account of ["ann@example.com", "ann@example.com", "ben@example.com"]) {
    servers.authorization.settings.account = account;
    if (account.startsWith("ben")) await storageIn({ ...folder, path: `${folder.path}/home/.fairlead` }).clearAll();
    await using host = await hostFor(folder, servers.guarded.url, {}, { signIn: person().ui });
    known.push(host.tools("docs").length > 0);
    await host.start({ servers: ["docs"] });
  }
  expect(known).toEqual([false, true, false]);
});

test.each(["0", "65536", "x", "1e3"])("OAUTH_CALLBACK_PORT=%s is refused by name", async (port) => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const env = { OAUTH_CALLBACK_PORT: port };
  await using host = await hostFor(folder, servers.guarded.url, { env }, { signIn: person().ui });
  await host.start({ servers: ["docs"] });
  expect(stateOf(host)).toMatchObject({ reason: "usage", message: expect.stringContaining("OAUTH_CALLBACK_PORT is") });
});

test("nor when what it was brought was renewed on the way", async () => {
  let signIns = 0;
  const hook = createAuthHook({
    ...server,
    hasCredentials: async () => true,
    keeper: async () => ({ current: async () => credentials, refused: async () => undefined }),
    async signIn() {
      signIns += 1;
      return credentials;
    },
  });
  expect(await hook.challenged(refusal(401, "Bearer", { sent: {} }), signal)).toBe(true);
  const sent = { authorization: "Bearer renewed" };
  await expect(hook.challenged(refusal(401, "Bearer", { attempt: 1, sent }), signal)).rejects.toMatchObject({
    message: '"docs" rejected the token of a new sign-in',
  });
  expect(signIns).toBe(1);
});

test("a nonce that the server demands first hides no token that has expired", async () => {
  const bound = { ...credentials, dpopKey: newDpopKey() };
  const replaced: (string | undefined)[] = [];
  const hook = createAuthHook({
    ...server,
    hasCredentials: async () => true,
    keeper: async () => ({
      current: async () => bound,
      refused: async (_url, token) => {
        replaced.push(token);
        return bound;
      },
    }),
    signIn: async () => bound,
  });
  const sent = { authorization: "DPoP token" };
  const asked = { url: "https://h/mcp", method: "POST" };
  expect(await hook.headers(asked)).toMatchObject({ authorization: "DPoP token", dpop: expect.any(String) });
  const demand = (attempt: number, nonce: string): Challenge =>
    refusal(401, 'DPoP error="use_dpop_nonce"', { sent, attempt, headers: { "dpop-nonce": nonce } });
  expect(await hook.challenged(demand(0, "one"), signal)).toBe(true);
  const { dpop = "" } = await hook.headers(asked);
  expect(claimsOf(dpop)).toMatchObject({ nonce: "one", htm: "POST", htu: "https://h/mcp" });
  expect(replaced).toEqual([]);
  expect(await hook.challenged(refusal(401, 'DPoP error="invalid_token"', { sent, attempt: 1 }), signal)).toBe(true);
  expect(replaced).toEqual(["token"]);
  // The same nonce again is no reason to repeat the request with it.
  expect(await hook.challenged(demand(0, "one"), signal)).toBe(true);
  expect(replaced).toEqual(["token", "token"]);
});

test.each([
  [
    false,
    "which the sign-in did not grant",
    "Ask the server's operator to give your account access.",
    "Ask the server's operator why the server rejects tokens from its own authorization server.",
  ],
  [
    true,
    "which the authorization server did not grant to this machine's OAuth client",
    "Ask the operator of the authorization server to allow these scopes for the client.",
    'Ask the server\'s operator which audience the server accepts, then set "audience" under machineAuth of "docs".',
  ],
])("a token that stays refused is explained for its owner (a machine: %s)", async (isMachine, why, next, ask) => {
  const hook = createAuthHook({
    ...server,
    hasCredentials: async () => true,
    keeper,
    signIn: async () => credentials,
    isMachine,
  });
  const needing = (scope: string) => hook.challenged(refusal(403, `Bearer error="insufficient_scope"${scope}`), signal);
  await expect(needing(', scope="read"')).rejects.toMatchObject({
    code: "auth_failed",
    message: `"docs" needs the scopes read, ${why}`,
    next,
  });
  await expect(needing("")).rejects.toThrow(`"docs" needs an unnamed scope, ${why}`);
  expect(await hook.challenged(refusal(401, "Bearer", { sent: {} }), signal)).toBe(true);
  await expect(hook.challenged(refusal(401, "Bearer", { attempt: 1 }), signal)).rejects.toMatchObject({ next: ask });
});

test("a sign-in for more scopes is asked for at most twice for one request", async () => {
  const signIns: unknown[] = [];
  const hook = createAuthHook({
    ...server,
    hasCredentials: async () => true,
    keeper,
    async signIn({ before }) {
      signIns.push(before);
      return credentials;
    },
  });
  const needing = (attempt: number) =>
    hook.challenged(refusal(403, 'Bearer error="insufficient_scope", scope="write"', { attempt }), signal);
  expect([await needing(0), await needing(1)]).toEqual([true, true]);
  await expect(needing(2)).rejects.toThrow('"docs" needs the scopes write, which the sign-in did not grant');
  expect(await needing(0)).toBe(true);
  expect(signIns).toEqual([["read"], ["read"], ["read"]]);
});
