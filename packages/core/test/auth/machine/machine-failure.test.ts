import { expect, test } from "vitest";
import { type MachineRefusal, machineRefused } from "../../../src/auth/machine/machine-failure.ts";
import { newKey, workloadToken } from "./machine-scene.ts";

const now = 1_800_000_000_000;
const seconds = now / 1000;
const key = newKey();
const settings = 'under machineAuth of "docs"';
const operator = "the operator of the authorization server";

type More = Partial<MachineRefusal> & { readonly clockLead?: number };

function refused(error: string, { clockLead, ...more }: More = {}, description?: string) {
  const { message, next, evidence, code } = machineRefused({
    serverName: "docs",
    step: "token request",
    url: "https://login.example/token",
    answer: {
      kind: "error",
      error,
      ...(description !== undefined && { description }),
      ...(clockLead !== undefined && { clockLead }),
    },
    client: { clientId: "machine" },
    proof: { method: "none" },
    audiences: ["https://login.example", "https://login.example/token"],
    scopes: [],
    isDpop: false,
    now,
    ...more,
  });
  return { code, message: message.replace('token request for "docs" ', ""), next, evidence };
}

const bySecret = (method: "client_secret_basic" | "client_secret_post"): MachineRefusal["proof"] => ({ method });
const byKey: MachineRefusal["proof"] = { method: "private_key_jwt", key: "/keys/one.pem", authenticate: () => {} };
const jwt = (claims: object): MachineRefusal["assertion"] => ({
  jwt: workloadToken(key.privateKey, { iat: seconds, exp: seconds + 60, ...claims }),
  from: "the file /run/token",
});

const reasons: readonly (readonly [string, More, string, string])[] = [
  [
    "unauthorized_client",
    {},
    'client "machine" may not use the requested grant type',
    `Ask ${operator} to allow the grant type for client "machine".`,
  ],
  [
    "invalid_scope",
    { client: undefined },
    "the authorization server requires other scopes",
    `Correct "scopes" ${settings}, or ask ${operator} to allow them for this machine.`,
  ],
  [
    "invalid_scope",
    { scopes: ["read", "write"] },
    "the authorization server does not grant the scopes read write",
    `Correct "scopes" ${settings}, or ask ${operator} to allow them for client "machine".`,
  ],
  [
    "unsupported_grant_type",
    {},
    "the authorization server does not support the requested grant type",
    `Choose another "kind" ${settings}.`,
  ],
  [
    "invalid_target",
    {},
    "the authorization server issues no tokens for this audience",
    `Correct "audience" ${settings}, or ask ${operator} to allow this audience.`,
  ],
  [
    "invalid_dpop_proof",
    { isDpop: true },
    "the authorization server rejected the DPoP proof",
    `Ask ${operator} which DPoP proofs the server accepts.`,
  ],
  ["server_error", {}, "the authorization server refused the request", `Check the settings ${settings}.`],
  [
    "server_error",
    { proof: bySecret("client_secret_post") },
    "the authorization server refused the request with client_secret_post",
    `Check the settings ${settings}.`,
  ],
  [
    "invalid_client",
    {},
    'client "machine" is unknown to the authorization server, or the client must authenticate itself',
    `Correct "clientId", or add "clientSecret" or "privateKeyFile" ${settings}.`,
  ],
  [
    "invalid_client",
    { proof: byKey },
    'the authorization server does not accept the key /keys/one.pem for client "machine"',
    `Register the public key of /keys/one.pem with the authorization server, or correct the private key and "keyId" ${settings}.`,
  ],
  [
    "invalid_client",
    { proof: bySecret("client_secret_post") },
    'client "machine" is unknown to the authorization server, or the client\'s secret is wrong',
    `Correct "clientId" and "clientSecret" ${settings}.`,
  ],
  [
    "invalid_client",
    { proof: bySecret("client_secret_basic"), client: undefined },
    'client "" is unknown to the authorization server, or the client\'s secret is wrong',
    `Correct "clientId" and "clientSecret" ${settings}.`,
  ],
  [
    "invalid_grant",
    { assertion: { jwt: "no JWT", from: "the file /run/token" } },
    "the JWT in the file /run/token is for no audience, not for https://login.example",
    "Have the JWT issued for https://login.example.",
  ],
  ["invalid_grant", {}, "the authorization server rejected the grant", `Check the settings ${settings}.`],
  [
    "invalid_grant",
    { assertion: jwt({ exp: seconds }) },
    "the JWT in the file /run/token expired 0 s ago",
    "Check the program that renews the JWT.",
  ],
  [
    "invalid_grant",
    { assertion: jwt({ exp: seconds - 60 }), clockLead: -10_000 },
    "the JWT in the file /run/token expired 70 s ago",
    "Check the program that renews the JWT.",
  ],
  [
    "invalid_grant",
    { assertion: jwt({ exp: seconds - 5, aud: "a" }), clockLead: 10_000 },
    "the JWT in the file /run/token is for a, not for https://login.example",
    "Have the JWT issued for https://login.example.",
  ],
  [
    "invalid_grant",
    { assertion: jwt({ exp: "soon", nbf: "later", aud: "https://login.example" }) },
    "the authorization server does not accept the JWT in the file /run/token",
    `Ask ${operator} to trust the issuer and the subject of this JWT.`,
  ],
  [
    "invalid_grant",
    { assertion: jwt({ nbf: seconds + 300 }) },
    "the JWT in the file /run/token is not valid yet: it becomes valid in 5 min",
    "Check the clock of the program that issues the JWT.",
  ],
  [
    "invalid_grant",
    { assertion: jwt({ nbf: seconds, aud: ["a", "b"] }) },
    "the JWT in the file /run/token is for a, b, not for https://login.example",
    "Have the JWT issued for https://login.example.",
  ],
  [
    "invalid_grant",
    { assertion: { jwt: jwt({})?.jwt ?? "", from: "the metadata service of gcp" } },
    "the JWT in the metadata service of gcp is for no audience, not for https://login.example",
    'Have the JWT issued for https://login.example, or set "audience".',
  ],
  [
    "invalid_grant",
    { assertion: jwt({ aud: "https://login.example/token/" }) },
    "the authorization server does not accept the JWT in the file /run/token",
    `Ask ${operator} to trust the issuer and the subject of this JWT.`,
  ],
];

test.each(reasons.map(([error, more, why, next]) => ({ error, more, why, next })))(
  "$error is explained: $why",
  (row) => {
    const { error, more, why, next } = row;
    expect(refused(error, more)).toEqual({
      code: "auth_failed",
      message: `refused by login.example: ${why} (${error})`,
      next,
      evidence: undefined,
    });
  },
);

test.each<[string, boolean, Partial<MachineRefusal>]>([
  ["invalid_client", true, { proof: byKey }],
  ["invalid_grant", true, { assertion: jwt({}) }],
  ["invalid_dpop_proof", true, { isDpop: true }],
  ["invalid_client", false, { proof: bySecret("client_secret_post") }],
  ["invalid_scope", false, { isDpop: true }],
])("%s may be caused by the clock, if the request had a date: %s", (error, isClock, more) => {
  const { message, next } = refused(error, { ...more, clockLead: 31_000 });
  expect(message.includes("this machine's clock is 31 s ahead")).toBe(isClock);
  expect(next === "Set this machine's clock, for example with NTP, then try again.").toBe(isClock);
  expect(refused(error, { ...more, clockLead: 30_000 }).message).not.toContain("clock");
});

test("what the server says is evidence, up to 300 characters", () => {
  expect(refused("invalid_client", {}, "x".repeat(300)).evidence).toBe("x".repeat(300));
  expect(refused("invalid_client", {}, "x".repeat(400)).evidence).toBe(`${"x".repeat(299)}…`);
});

test.each(["Unknown client", "client not found", "not registered", "It does not exist", "no such client"])(
  "a description such as %s says that the client is unknown, however it authenticates",
  (description) => {
    expect(refused("invalid_client", { proof: byKey }, description)).toEqual({
      code: "auth_failed",
      message: 'refused by login.example: the authorization server does not know client "machine" (invalid_client)',
      next: `Correct "clientId" ${settings}, or register the client with the authorization server.`,
      evidence: description,
    });
  },
);

test("a long code of the server is cut, and the step and the server are named", () => {
  const error = machineRefused({
    serverName: "docs",
    step: "token exchange",
    url: "https://login.example:8443/token",
    answer: { kind: "unavailable", status: 500 },
    client: undefined,
    proof: { method: "none" },
    audiences: ["https://login.example"],
    scopes: [],
    isDpop: false,
    now,
  });
  expect([error.message, error.serverName]).toEqual([
    'token exchange for "docs" failed: login.example:8443 answered HTTP 500',
    "docs",
  ]);
  expect(refused("e".repeat(61)).message).toMatch(/ \(e{59}…\)$/);
  expect(refused("e".repeat(60)).message).toMatch(/ \(e{60}\)$/);
});

test("an endpoint that is overloaded or gives no token is named", () => {
  expect(refused("", { answer: { kind: "unavailable", status: 503 } })).toMatchObject({
    code: "http_status",
    message: "failed: login.example answered HTTP 503",
    next: "Try again later.",
  });
  expect(refused("", { answer: { kind: "unusable", reason: "it is no JSON" } })).toMatchObject({
    code: "auth_failed",
    message: "failed: login.example gave no token: it is no JSON",
    next: `Check "tokenUrl" and "issuer" ${settings}.`,
  });
});
