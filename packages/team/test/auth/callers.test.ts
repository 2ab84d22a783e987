/** Who may enter the gateway of a team: tokens of a real issuer over HTTP, API keys, revoked users, challenges. */

import { createBoundedFetch } from "@fairlead/core/connect";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Callers } from "../../src/auth/admit-caller.ts";
import { ApiKeyVerifier, createApiKey } from "../../src/auth/api-key-verifier.ts";
import { type IssuerSettings, readAuthSettings } from "../../src/auth/auth-settings.ts";
import { RevokedUsers } from "../../src/auth/revoked-users.ts";
import { TokenVerifier, type VerifiedToken } from "../../src/auth/token-verifier.ts";
import type { ApiKey, ApiKeyStore } from "../../src/store/api-keys.ts";
import type { Hints, HintTopic } from "../../src/store/hints.ts";
import type { UserRevocation } from "../../src/store/revocations.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";

const url = "https://mcp.example";
const aud = `${url}/mcp`;
const user = { sub: "ada", aud, scope: "mcp:call", client_id: "claude" };

let issuer: TestIssuer;
/** The time of the gateway and of the issuer, in milliseconds since 1970. */
let time = Date.UTC(2026, 0, 1);

beforeAll(async () => {
  issuer = await startIssuer({ now: () => time });
});
afterAll(() => issuer[Symbol.asyncDispose]());
beforeEach(() => {
  time += 3_600_000;
  issuer.setAway(false);
});

/** Hints that a test sends itself. */
class TestHints implements Hints {
  readonly #listeners = new Map<HintTopic, (id: string | undefined) => void>();
  send(topic: HintTopic, id?: string): void {
    this.#listeners.get(topic)?.(id);
  }
  listen(topic: HintTopic, onHint: (id: string | undefined) => void): () => void {
    this.#listeners.set(topic, onHint);
    return () => this.#listeners.delete(topic);
  }
}

interface Scene extends Disposable {
  readonly callers: Callers;
  readonly hints: TestHints;
  readonly keys: Map<string, ApiKey>;
  readonly revocations: UserRevocation[];
  identify(token?: string, path?: string): Promise<unknown>;
}

async function scene(settings: Partial<IssuerSettings> = {}, trustedProxies: readonly string[] = []): Promise<Scene> {
  const entry = {
    issuer: issuer.url,
    groupsClaim: "groups",
    groupsOf: new Map(),
    checksScopes: true,
    userClaim: "sub",
    tenant: 1,
  };
  const hints = new TestHints();
  const clock = { now: () => time, after: () => () => undefined };
  const fetchFor = (near: string) => createBoundedFetch({ near, env: {} });
  const onVerified = ({ owner, groups }: VerifiedToken): void =>
    void users.set(`${owner.tenant} ${owner.principal}`, groups);
  const tokens = new TokenVerifier([{ ...entry, ...settings }], { fetchFor, clock, now: () => time, onVerified });
  const keys = new Map<string, ApiKey>();
  const store: ApiKeyStore = {
    add: async (key) => void keys.set(key.id, key),
    read: async (id) => keys.get(id),
    used: async () => undefined,
    revoke: async (_, id) => keys.delete(id),
    list: async () => [...keys.values()],
  };
  const revocations: UserRevocation[] = [];
  const list = { revoke: async () => undefined, list: async () => revocations };
  const revoked = await RevokedUsers.open(list, hints, clock);
  const users = new Map<string, readonly string[]>();
  const groupsOf = async (tenant: number) =>
    new Map(
      [...users].filter(([owner]) => owner.startsWith(`${tenant} `)).map(([owner, groups]) => [owner.slice(2), groups]),
    );
  const verifier = new ApiKeyVerifier({ store, users: { groupsOf }, hints, now: () => time });
  const callers = new Callers({ url, tokens, keys: verifier, revoked, issuers: [issuer.url], trustedProxies });
  return {
    callers,
    hints,
    keys,
    revocations,
    identify: (token, path = "/mcp") =>
      callers.identify({
        path,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        remoteAddress: "203.0.113.7",
      }),
    [Symbol.dispose]() {
      revoked[Symbol.dispose]();
      verifier[Symbol.dispose]();
    },
  };
}

describe("access tokens", () => {
  test("a token names the user, the groups, the roles and the program", async () => {
    using at = await scene({ groupsClaim: "realm.roles", groupsOf: new Map([["admin", ["mcp-admins"]]]), tenant: 3 });
    const token = await issuer.sign({ ...user, realm: { roles: ["mcp-admins", "a", "a"] } });
    expect(await at.identify(token)).toMatchObject({
      owner: { tenant: 3, principal: `${issuer.url}#ada` },
      groups: ["a", "mcp-admins"],
      roles: new Set(["user", "admin"]),
      scope: "mcp:call",
      client: "claude",
    });
  });

  test.each([
    ["another audience", { aud: "https://other.example/mcp" }, "another resource"],
    ["no audience", { aud: undefined }, "another resource"],
    ["the audience of one server's endpoint", { aud: `${url}/mcp/github` }, "another resource"],
    ["an end in the past", { exp: 1 }, "expired"],
    ["a begin in the future", { nbf: 9_999_999_999 }, "nbf"],
    ["no end", { exp: undefined }, "exp"],
    ["no subject", { sub: undefined }, "sub"],
    ["an empty subject", { sub: "" }, 'claim "sub"'],
    ["control characters in the subject", { sub: "ada\u0000" }, 'claim "sub"'],
    ["another issuer", { iss: "https://evil.example" }, "issuer"],
    ["the issuer with a slash", { iss: "SLASH" }, "issuer"],
  ])("a token with %s is refused, and the challenge says where to get one", async (_, claims, why) => {
    using at = await scene();
    const iss = "iss" in claims && claims.iss === "SLASH" ? `${issuer.url}/` : undefined;
    const token = await issuer.sign({ ...user, ...claims, ...(iss && { iss }) });
    expect(await at.identify(token)).toEqual({
      status: 401,
      headers: {
        "www-authenticate": `Bearer error="invalid_token", resource_metadata="${url}/.well-known/oauth-protected-resource/mcp", scope="mcp:read mcp:call"`,
      },
      message: expect.stringContaining(why),
    });
  });

  test("signatures of others, no signature, a shared secret and other types of tokens are refused", async () => {
    using at = await scene();
    const { privateKey } = await generateKeyPair("ES256");
    const claims = { ...user, iss: issuer.url, iat: time / 1000, exp: time / 1000 + 60 };
    const foreign = new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "k0" }).sign(privateKey);
    const jwk = JSON.stringify(await exportJWK((await generateKeyPair("ES256", { extractable: true })).publicKey));
    const shared = new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(jwk));
    const tokens = [
      await foreign,
      await shared,
      new UnsecuredJWT(claims).encode(),
      await issuer.sign(user, { typ: "logout+jwt" }),
      "a.b.c",
      "x".repeat(20_000),
    ];
    for (const token of tokens) expect(await at.identify(token)).toMatchObject({ status: 401 });
  });

  test("a token for all servers is good for one of them; one for a server is good for it alone", async () => {
    using at = await scene();
    expect(await at.identify(await issuer.sign(user), "/mcp/github")).toMatchObject({ client: "claude" });
    const narrow = await issuer.sign({ ...user, aud: `${url}/mcp/github` });
    expect(await at.identify(narrow, "/mcp/github")).toMatchObject({ client: "claude" });
    expect(await at.identify(narrow, "/mcp/slack")).toMatchObject({ status: 401 });
    // What was found out about a token at one endpoint says nothing about another one.
    expect(await at.identify(narrow, "/mcp")).toMatchObject({ status: 401 });
  });

  test("a token without a scope is refused; one that may read cannot call, and is told what it needs", async () => {
    using at = await scene();
    expect(await at.identify(await issuer.sign({ ...user, scope: undefined }))).toMatchObject({ status: 403 });
    const caller = await at.identify(await issuer.sign({ ...user, scope: "openid mcp:read" }));
    expect(caller).toMatchObject({ scope: "mcp:read" });
    const refusal = at.callers.refusalOf(caller as never, "/mcp");
    expect(refusal("tools/list")).toBeUndefined();
    expect(refusal("tools/call")).toMatchObject({
      status: 403,
      headers: { "www-authenticate": expect.stringMatching(/error="insufficient_scope".*scope="mcp:read mcp:call"/) },
    });
    const wide = await at.identify(await issuer.sign({ ...user, scope: undefined, scp: ["mcp:admin"] }));
    expect(at.callers.refusalOf(wide as never, "/mcp")("tools/call")).toBeUndefined();
  });

  test("new keys of the issuer are read once, however many tokens name unknown ones", async () => {
    using at = await scene();
    await at.identify(await issuer.sign(user));
    const before = issuer.keyRequests();
    await issuer.rotate();
    time += 31_000;
    const token = await issuer.sign(user);
    const both = await Promise.all([at.identify(token), at.identify(await issuer.sign({ ...user, sub: "bob" }))]);
    expect(both).toEqual([
      expect.objectContaining({ client: "claude" }),
      expect.objectContaining({ client: "claude" }),
    ]);
    for (let each = 0; each < 20; each += 1) await at.identify(await issuer.sign(user, { kid: `unknown${each}` }));
    expect(issuer.keyRequests() - before).toBe(1);
  });

  test("while the issuer is away its known keys count; without any key the answer is to try again", async () => {
    using at = await scene();
    await at.identify(await issuer.sign(user));
    issuer.setAway(true);
    time += 700_000;
    expect(await at.identify(await issuer.sign(user))).toMatchObject({ client: "claude" });
    using fresh = await scene();
    expect(await fresh.identify(await issuer.sign(user))).toMatchObject({ status: 503 });
  });

  test("keys that the metadata names at an address without TLS are not read", async () => {
    let asked = 0;
    const fetchFor = () => async (address: string | URL) => {
      asked += 1;
      if (address.toString().startsWith("http:")) throw new Error("it must not be asked");
      return Response.json({ issuer: "https://idp.example", jwks_uri: "http://keys.example/keys" });
    };
    const entry = { issuer: "https://idp.example", groupsClaim: "groups", groupsOf: new Map(), checksScopes: false };
    const settings: IssuerSettings = { ...entry, userClaim: "sub", tenant: 1 };
    const clock = { now: () => time };
    const tokens = new TokenVerifier([settings], { fetchFor, clock, now: () => time });
    const token = await issuer.sign({ ...user, iss: "https://idp.example" });
    await expect(tokens.verify(token, [url])).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("no keys at an https address"),
    });
    expect(asked).toBe(2);
  });

  test("a user whose tokens were revoked enters with a later token only", async () => {
    using at = await scene();
    const old = await issuer.sign(user);
    expect(await at.identify(old)).toMatchObject({ client: "claude" });
    const owner = { tenant: 1, principal: `${issuer.url}#ada` };
    at.revocations.push({ ...owner, issuedBefore: time + 1000, until: time + 3_600_000 });
    at.hints.send("revocation");
    await Promise.resolve();
    await Promise.resolve();
    expect(await at.identify(old)).toMatchObject({ status: 401 });
    expect(await at.identify(await issuer.sign({ ...user, sub: "bob" }))).toMatchObject({ client: "claude" });
    time += 2000;
    expect(await at.identify(await issuer.sign(user))).toMatchObject({ client: "claude" });
  });
});

describe("API keys", () => {
  const machine = {
    owner: { tenant: 1, principal: "key:ci" },
    scopes: ["mcp:call"],
    role: "user",
    networks: [] as readonly string[],
    createdBy: "iss#admin",
  };

  test("a key is good until it is revoked or has expired, and its secret is not stored", async () => {
    using at = await scene();
    const { key, text } = createApiKey({ ...machine, expiresAt: time + 60_000 });
    expect(JSON.stringify(key)).not.toContain(text.slice(-20));
    at.keys.set(key.id, key);
    expect(await at.identify(text)).toMatchObject({ owner: machine.owner, client: `key:${key.id}` });
    const last = text.at(-1) === "A" ? "B" : "A";
    expect(await at.identify(text.slice(0, -1) + last)).toMatchObject({ status: 401 });
    at.keys.delete(key.id);
    at.hints.send("api_key", key.id);
    expect(await at.identify(text)).toMatchObject({ status: 401 });
    at.keys.set(key.id, key);
    at.hints.send("api_key", key.id);
    time += 60_001;
    expect(await at.identify(text)).toMatchObject({ status: 401 });
  });

  test("a key of a person has the groups of the person's latest token, and a machine has none", async () => {
    using at = await scene();
    const owner = { tenant: 1, principal: `${issuer.url}#${user.sub}` };
    const own = createApiKey({ ...machine, owner });
    const other = createApiKey(machine);
    for (const { key } of [own, other]) at.keys.set(key.id, key);
    expect(await at.identify(own.text)).toMatchObject({ owner, groups: [] });
    await at.identify(await issuer.sign({ ...user, groups: ["contractors"] }));
    time += 30_000;
    expect(await at.identify(own.text)).toMatchObject({ owner, groups: ["contractors"] });
    expect(await at.identify(other.text)).toMatchObject({ groups: [] });
  });

  test("a key for a network is refused elsewhere, and only a named balancer is believed", async () => {
    using at = await scene({}, ["10.0.0.0/8"]);
    const { key, text } = createApiKey({ ...machine, networks: ["198.51.100.0/24", "2001:db8::/32"] });
    at.keys.set(key.id, key);
    const from = (remoteAddress: string, forwarded?: string) =>
      at.callers.identify({
        path: "/mcp",
        headers: { authorization: `Bearer ${text}`, ...(forwarded && { "x-forwarded-for": forwarded }) },
        remoteAddress,
      });
    const accepted = { owner: machine.owner };
    expect(await from("198.51.100.9")).toMatchObject(accepted);
    expect(await from("::ffff:198.51.100.9")).toMatchObject(accepted);
    expect(await from("2001:db8::1")).toMatchObject(accepted);
    expect(await from("203.0.113.1")).toMatchObject({ status: 401 });
    expect(await from("203.0.113.1", "198.51.100.9")).toMatchObject({ status: 401 });
    expect(await from("10.1.1.1", "198.51.100.9")).toMatchObject(accepted);
    expect(await from("10.1.1.1", "198.51.100.9, 10.2.2.2")).toMatchObject(accepted);
    // What the client itself wrote into the header comes first, and does not count.
    expect(await from("10.1.1.1", "198.51.100.9, 203.0.113.1")).toMatchObject({ status: 401 });
  });
});

describe("the metadata of the endpoint", () => {
  test.each([
    ["/.well-known/oauth-protected-resource", aud],
    ["/.well-known/oauth-protected-resource/mcp", aud],
    ["/.well-known/oauth-protected-resource/mcp/github", `${aud}/github`],
    ["/.well-known/oauth-protected-resource/other", undefined],
    ["/.well-known/oauth-protected-resourceX", undefined],
    ["/mcp", undefined],
  ])("%s is about %s", async (path, resource) => {
    using at = await scene();
    expect(at.callers.metadataAt(path)?.["resource"]).toBe(resource);
  });

  test("a request without a token is told where to get one, and a hostile path is not repeated", async () => {
    using at = await scene();
    for (const path of ["/mcp", '/mcp/x"\r\nset-cookie: a=b', `/mcp/${"a/".repeat(20)}`])
      expect(await at.identify(undefined, path)).toEqual({
        status: 401,
        headers: {
          "www-authenticate": `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource/mcp", scope="mcp:read mcp:call"`,
        },
        message: expect.any(String),
      });
  });
});

describe("fairlead.team.auth", () => {
  test("the settings of an issuer are read", () => {
    const read = readAuthSettings({
      issuers: [
        {
          issuer: "https://idp.example",
          audience: "mcp",
          roles: { claim: "groups", admin: ["a"] },
          userClaim: "oid",
          browser: { clientId: "gateway" },
          tenant: 2,
        },
      ],
      trustedProxies: ["10.0.0.0/8"],
    });
    expect(read).toEqual({
      issuers: [
        {
          issuer: "https://idp.example",
          audience: ["mcp"],
          jwksUri: undefined,
          groupsClaim: "groups",
          groupsOf: new Map([["admin", ["a"]]]),
          checksScopes: true,
          userClaim: "oid",
          browser: { clientId: "gateway", clientSecret: undefined, scopes: ["profile"] },
          tenant: 2,
        },
      ],
      apiKeys: false,
      trustedProxies: ["10.0.0.0/8"],
    });
  });

  test.each([
    [undefined, "fairlead.team.auth"],
    [{ issuers: "x" }, "fairlead.team.auth.issuers"],
    [{ issuers: [{}] }, "fairlead.team.auth.issuers[0].issuer"],
    [{ issuers: [{ issuer: "idp" }] }, "fairlead.team.auth.issuers[0].issuer"],
    [{ issuers: [{ issuer: "https://a", browser: {} }] }, "fairlead.team.auth.issuers[0].browser.clientId"],
    [{ issuers: [{ issuer: "http://idp.example" }] }, "fairlead.team.auth.issuers[0].issuer"],
    [{ issuers: [{ issuer: "https://a", jwksUri: "http://b" }] }, "fairlead.team.auth.issuers[0].jwksUri"],
    [{ issuers: [{ issuer: "https://a#b" }] }, "fairlead.team.auth.issuers[0].issuer"],
    [{ issuers: [{ issuer: "https://a" }, { issuer: "https://a" }] }, "fairlead.team.auth.issuers"],
    [{ issuers: [{ issuer: "https://a", tenant: 0 }] }, "fairlead.team.auth.issuers[0].tenant"],
    [{ issuers: [{ issuer: "https://a", roles: { boss: [] } }] }, "fairlead.team.auth.issuers[0].roles.boss"],
    [{ apiKeys: "yes" }, "fairlead.team.auth.apiKeys"],
    [{ apiKeys: true, relaxed: true }, "fairlead.team.auth.relaxed"],
  ])("%j is refused, and the message names %s", (value, where) => {
    expect(() => readAuthSettings(value)).toThrow(expect.objectContaining({ code: "settings_invalid" }));
    expect(() => readAuthSettings(value)).toThrow(`${where} is invalid: `);
  });
});
