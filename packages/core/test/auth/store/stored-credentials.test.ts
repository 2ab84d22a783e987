import { expect, test } from "vitest";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import { canonicalServerUrl, readCredentials, writeCredentials } from "../../../src/auth/store/stored-credentials.ts";

const least: Credentials = {
  serverName: "docs",
  serverUrl: "https://h/mcp",
  resource: "https://h/mcp",
  issuer: "https://issuer",
  client: { clientId: "c" },
  endpoints: { token: "https://issuer/token" },
};
const tokens = { accessToken: "a", tokenType: "DPoP", obtainedAt: 7 };
const most: Credentials = {
  ...least,
  pin: "p",
  account: "someone",
  client: {
    clientId: "c",
    clientSecret: "s",
    authentication: "client_secret_post",
    registration: { client_id: "c" },
    redirectUri: "http://127.0.0.1:7/cb",
    expiresAt: 9,
  },
  endpoints: {
    token: "https://issuer/token",
    revocation: "https://issuer/revoke",
    authorization: "https://issuer/authorize",
    device: "https://issuer/device",
  },
  scopes: ["read"],
  audiences: ["all"],
  dpopKey: '{"kty":"EC"}',
  machine: { assertionAudience: "https://issuer", signingAlgorithms: ["ES256"] },
  tokens: { ...tokens, refreshToken: "r", scope: "read", idToken: "i", expiresAt: 8 },
};

test.each([
  ["the least", least],
  ["the most", most],
])("%s that can be stored comes back as it was", (_, credentials) => {
  expect(readCredentials(writeCredentials(credentials))).toEqual(credentials);
});

test.each(["none", "client_secret_basic", "client_secret_post"] as const)(
  "the client's authentication %s comes back as it was",
  (authentication) => {
    const stored = { ...least, client: { clientId: "c", authentication } };
    expect(readCredentials(writeCredentials(stored))).toEqual(stored);
  },
);

test.each<[unknown, object]>([
  [{ assertionAudience: "a" }, { machine: { assertionAudience: "a" } }],
  [{ assertionAudience: "a", signingAlgorithms: [1] }, { machine: { assertionAudience: "a" } }],
  [{ signingAlgorithms: ["ES256"] }, {}],
  ["a", {}],
])("the machine %j is read as %j", (machine, expected) => {
  expect(readCredentials(JSON.stringify({ ...least, machine }))).toEqual({ ...least, ...expected });
});

test.each(["serverName", "serverUrl", "resource", "issuer", "client", "endpoints"])(
  "without %s it is damaged",
  (key) => {
    expect(readCredentials(JSON.stringify({ ...most, [key]: undefined }))).toBeUndefined();
  },
);

test.each<[string, unknown]>([
  ["no object", [most]],
  ["a client that is none", { ...most, client: "c" }],
  ["a client without an ID", { ...most, client: { clientSecret: "s" } }],
  ["endpoints that are none", { ...most, endpoints: "https://issuer" }],
  ["no place to ask for tokens", { ...most, endpoints: { device: "https://issuer/device" } }],
  ["tokens that are none", { ...most, tokens: "a" }],
  ["tokens without an access token", { ...most, tokens: { refreshToken: "r" } }],
  ["an empty token", { ...most, tokens: { ...tokens, accessToken: "" } }],
])("%s: it is damaged", (_, record) => {
  expect(readCredentials(JSON.stringify(record))).toBeUndefined();
});

test("text that is no JSON is damaged", () => {
  expect(readCredentials("{")).toBeUndefined();
});

test("what is of another kind than it should be is left out, and an unknown member is dropped", () => {
  const odd = {
    ...least,
    pin: 1,
    account: "",
    scopes: ["a", 1],
    audiences: "all",
    stranger: true,
    client: { clientId: "c", authentication: "private_key_jwt", registration: [], expiresAt: "soon", clientSecret: 1 },
    tokens: { accessToken: "a", expiresAt: null, scope: 1 },
  };
  expect(readCredentials(JSON.stringify(odd))).toEqual({
    ...least,
    tokens: { accessToken: "a", tokenType: "Bearer", obtainedAt: 0 },
  });
});

test("a time that is too large for a number is left out", () => {
  const text = JSON.stringify({ ...least, tokens: { ...tokens, expiresAt: 8 } }).replace(
    '"expiresAt":8',
    '"expiresAt":1e999',
  );
  expect(text).toContain("1e999");
  expect(readCredentials(text)).toEqual({ ...least, tokens });
});

test.each([
  ["HTTPS://H:443/mcp#x", "https://h/mcp"],
  ["http://h/mcp?a=1", "http://h/mcp?a=1"],
  ["ftp://h/", undefined],
  ["file:///h", undefined],
  ["nonsense", undefined],
])("%s is kept under %s", (url, canonical) => {
  expect(canonicalServerUrl(url)).toBe(canonical);
});
