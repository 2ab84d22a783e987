import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import {
  MCPOAuthTokenStorage,
  openTokenStorage,
  secretNameOf,
  signInFolder,
} from "../../../src/auth/store/token-storage.ts";
import { HostError } from "../../../src/errors.ts";
import { openSecretStore, type SecretStore } from "../../../src/files/secrets/secret-store.ts";

const url = "https://docs.example/mcp";
const minimal: Credentials = {
  serverName: "docs",
  serverUrl: url,
  resource: url,
  issuer: "https://login.example",
  client: { clientId: "one" },
  endpoints: { token: "https://login.example/token" },
};
const whole: Required<Omit<Credentials, "pin">> = {
  ...minimal,
  account: "someone@example.com",
  client: {
    clientId: "one",
    clientSecret: "quiet",
    authentication: "client_secret_post",
    registration: JSON.parse('{"client_id":"one","unknown":{"kept":[1]},"__proto__":{"x":1}}'),
    redirectUri: "http://127.0.0.1/callback",
    expiresAt: 5,
  },
  tokens: {
    accessToken: "access",
    tokenType: "Bearer",
    refreshToken: "refresh",
    scope: "read write",
    idToken: "id",
    obtainedAt: 1,
    expiresAt: 2,
  },
  endpoints: {
    token: "https://login.example/token",
    revocation: "https://login.example/revoke",
    authorization: "https://login.example/authorize",
    device: "https://login.example/device",
  },
  scopes: ["read", "write"],
  audiences: ["https://docs.example"],
  dpopKey: '{"kty":"EC"}',
  machine: { assertionAudience: "https://login.example", signingAlgorithms: ["ES256"] },
};

const openIn = (state: string) => openTokenStorage({ state, env: {}, platform: "linux" });
const secretsIn = (state: string) => openSecretStore({ directory: signInFolder(state), env: {}, platform: "linux" });

async function only(store: SecretStore): Promise<string> {
  const [name = "", ...others] = await store.list();
  expect(others).toEqual([]);
  return name;
}

test.each([
  ["the least there can be", minimal],
  ["everything", whole],
])("%s comes back as it was stored, also to the next process", async (_, credentials) => {
  await using folder = await temporaryFolder();
  const storage = openIn(folder.path);
  expect([await storage.getCredentials(url), await storage.listServers()]).toEqual([undefined, []]);
  await storage.saveCredentials(credentials);
  expect(await openIn(folder.path).getCredentials(url)).toEqual(credentials);
  expect(JSON.stringify((await openIn(folder.path).getCredentials(url))?.client.registration)).toBe(
    JSON.stringify(credentials.client.registration),
  );
});

test("each address has its own; one can go, or all", async () => {
  await using folder = await temporaryFolder();
  const storage = openIn(folder.path);
  const urls = ["https://b.example/mcp", "https://a.example/", "https://b.example/mcp?tenant=2"];
  for (const serverUrl of urls) await storage.saveCredentials({ ...whole, serverUrl });
  expect(await storage.listServers()).toEqual([urls[1], urls[0], urls[2]]);
  expect(await storage.getAllCredentials()).toEqual(
    new Map([urls[1], urls[0], urls[2]].map((serverUrl) => [serverUrl, { ...whole, serverUrl }])),
  );
  expect([await storage.deleteCredentials(urls[0] ?? ""), await storage.deleteCredentials(urls[0] ?? "")]).toEqual([
    true,
    false,
  ]);
  expect([storage.lastKnown(urls[0] ?? ""), await storage.listServers()]).toEqual([undefined, [urls[1], urls[2]]]);
  await storage.clearAll();
  expect([await storage.listServers(), storage.lastKnown(urls[1] ?? "")]).toEqual([[], undefined]);
});

test("a process knows the sign-in that it stored or read last, until it deletes it or finds it deleted", async () => {
  await using folder = await temporaryFolder();
  const [storage, other] = [openIn(folder.path), openIn(folder.path)];
  await storage.saveCredentials(minimal);
  expect([storage.lastKnown(url), other.lastKnown(url)]).toEqual([minimal, undefined]);
  await other.getCredentials(url);
  expect(other.lastKnown(url)).toEqual(minimal);
  await storage.deleteCredentials(url);
  expect([storage.lastKnown(url), other.lastKnown(url)]).toEqual([undefined, minimal]);
  await other.getCredentials(url);
  expect(other.lastKnown(url)).toBeUndefined();
});

test("one spelling of an address is as good as another; another address is another", async () => {
  await using folder = await temporaryFolder();
  const storage = openIn(folder.path);
  await storage.saveCredentials({ ...whole, serverUrl: "HTTPS://Docs.Example:443/a/../mcp#part" });
  expect(await storage.listServers()).toEqual([url]);
  expect((await storage.getCredentials(url))?.tokens).toEqual(whole.tokens);
  for (const other of [
    "http://docs.example/mcp",
    `${url}/`,
    `${url}?a=1`,
    "https://docs.example.org/mcp",
    "https://user@docs.example/mcp",
  ]) {
    expect(await storage.getCredentials(other)).toBeUndefined();
  }
  for (const none of ["", "docs", "file:///mcp", "javascript:alert(1)"]) {
    await expect(storage.getCredentials(none)).rejects.toMatchObject({ code: "usage" });
  }
});

test("what was put under the name of another server is not used", async () => {
  await using folder = await temporaryFolder();
  const store = await secretsIn(folder.path);
  await openIn(folder.path).saveCredentials(minimal);
  const name = await only(store);
  await store.set(name, JSON.stringify({ ...whole, serverUrl: "https://victim.example/mcp" }));
  const storage = openIn(folder.path);
  expect([await storage.getCredentials(url), await storage.getCredentials("https://victim.example/mcp")]).toEqual([
    undefined,
    undefined,
  ]);
  expect(await storage.listServers()).toEqual([]);
});

test("the file tells neither the address nor the name of a server, and is no place for a person's own secrets", async () => {
  await using folder = await temporaryFolder();
  await openIn(folder.path).saveCredentials(whole);
  const files = await readdir(folder.path, { recursive: true });
  expect(files.sort()).toEqual(["sign-ins", "sign-ins/secrets.json", "sign-ins/secrets.key"]);
  expect(await readFile(join(folder.path, "sign-ins/secrets.json"), "utf8")).not.toMatch(
    /"docs"|docs[.]|example|access|refresh/,
  );
  const own = await openSecretStore({ directory: folder.path, env: {}, platform: "linux" });
  expect(await own.list()).toEqual([]);
});

describe("a damaged record is set aside: that server needs a sign-in, the others are fine", () => {
  const { client: _client, ...clientless } = whole;
  test.each([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["nothing", "null"],
    ["a record without a client", JSON.stringify(clientless)],
    ["a client without an id", JSON.stringify({ ...whole, client: {} })],
    ["tokens without a token", JSON.stringify({ ...whole, tokens: { refreshToken: "r" } })],
    ["tokens that are none", JSON.stringify({ ...whole, tokens: "access" })],
    ["endpoints without one for tokens", JSON.stringify({ ...whole, endpoints: {} })],
    ["an issuer that is no text", JSON.stringify({ ...whole, issuer: 1 })],
  ])("%s", async (_, text) => {
    await using folder = await temporaryFolder();
    const storage = openIn(folder.path);
    const other = { ...whole, serverUrl: "https://other.example/" };
    await storage.saveCredentials(whole);
    const store = await secretsIn(folder.path);
    const name = await only(store);
    await storage.saveCredentials(other);
    await store.set(name, text);
    expect(await storage.getAllCredentials()).toEqual(new Map([[other.serverUrl, other]]));
    expect(await storage.getCredentials(url)).toBeUndefined();
    expect([await store.get(name), await store.get(`corrupt.${name}`)]).toEqual([undefined, text]);
    await storage.saveCredentials(whole);
    expect(await openIn(folder.path).getCredentials(url)).toEqual(whole);
    await storage.deleteCredentials(url);
    expect(await store.get(`corrupt.${name}`)).toBeUndefined();
  });

  test("a sign-in of another process that replaces the damaged record stays", async () => {
    await using folder = await temporaryFolder();
    const store = await secretsIn(folder.path);
    const name = await secretNameOf(url);
    await store.set(name, "{");
    const storage = new MCPOAuthTokenStorage(async () => ({
      ...store,
      get: (asked) => store.get(asked),
      list: () => store.list(),
      remove: (asked) => store.remove(asked),
      async set(asked, value) {
        await store.set(asked, value);
        if (asked === `corrupt.${name}`) await openIn(folder.path).saveCredentials(whole);
      },
    }));
    expect(await storage.getCredentials(url)).toBeUndefined();
    expect(await storage.getCredentials(url)).toEqual(whole);
  });

  test("a bit that fell over in the file costs that one sign-in", async () => {
    await using folder = await temporaryFolder();
    const storage = openIn(folder.path);
    await storage.saveCredentials(whole);
    const name = await only(await secretsIn(folder.path));
    const other = { ...whole, serverUrl: "https://other.example/" };
    await storage.saveCredentials(other);
    const file = "sign-ins/secrets.json";
    const stored = JSON.parse(await folder.read(file)) as { secrets: Record<string, { tag: string }> };
    Object.assign(stored.secrets[name] ?? {}, { tag: "AAAAAAAAAAAAAAAAAAAAAA==" });
    await folder.write(file, stored);
    expect([await storage.getCredentials(url), await storage.getCredentials(other.serverUrl)]).toEqual([
      undefined,
      other,
    ]);
  });
});

test("fields of an unknown kind are left out, and those that matter less do not cost the rest", async () => {
  await using folder = await temporaryFolder();
  const storage = openIn(folder.path);
  await storage.saveCredentials(minimal);
  const store = await secretsIn(folder.path);
  const odd = {
    ...minimal,
    version: 7,
    scopes: "read",
    account: 1,
    tokens: { accessToken: "a", expiresAt: "soon", obtainedAt: null },
  };
  await store.set(await only(store), JSON.stringify(odd));
  expect(await storage.getCredentials(url)).toEqual({
    ...minimal,
    tokens: { accessToken: "a", tokenType: "Bearer", obtainedAt: 0 },
  });
});

test("a store that cannot be opened is an error, not a missing sign-in; and is tried again", async () => {
  await using folder = await temporaryFolder();
  let isLocked = true;
  const storage = new MCPOAuthTokenStorage(async () => {
    if (isLocked) throw new HostError("internal", "locked");
    return secretsIn(folder.path);
  });
  await expect(storage.getCredentials(url)).rejects.toThrow("locked");
  isLocked = false;
  expect(await storage.getCredentials(url)).toBeUndefined();
});

test("sign-ins of another pin are another view of the store; without a pin there is no other view", async () => {
  await using folder = await temporaryFolder();
  const storage = openIn(folder.path);
  expect([storage.pinned(undefined) === storage, storage.pinned("a") === storage]).toEqual([true, false]);
  expect(storage.pinned("a")).toBe(storage.pinned("a"));
  await storage.pinned("a").saveCredentials(minimal);
  expect(await storage.getCredentials(url)).toBeUndefined();
  expect(await openIn(folder.path).pinned("a").getCredentials(url)).toEqual({ ...minimal, pin: "a" });
});

test("the name of a secret is a digest of the URL and of the pin", async () => {
  const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
  const names = await Promise.all([undefined, "a", "b"].map((pin) => secretNameOf(url, pin)));
  expect(names).toEqual([url, `${url} a`, `${url} b`].map((text) => `oauth.${digest(text)}`));
  await expect(secretNameOf("ftp://x")).rejects.toMatchObject({ code: "usage" });
});
