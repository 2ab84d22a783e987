import type { AuthorizationSettings } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import type { Host } from "../../../src/host.ts";
import { machineScene, newKey, workloadToken } from "./machine-scene.ts";

const keys = { right: newKey(), wrong: newKey() };
const cloud = "https://cloud.example";
const secret = { clientId: "machine", clientSecret: "quite secret" };
const byKey = { clientId: "machine", privateKeyFile: "key.pem" };

async function failureOf(host: Host): Promise<{ reason: string; message: string; next: string | undefined }> {
  await host.start();
  const state = host.states().find(({ name }) => name === "docs");
  if (state?.status !== "disconnected" || state.reason === "lazy") throw new Error(`it is ${state?.status}`);
  const { reason, message, next } = state;
  return { reason, message, next };
}

interface Refusal {
  readonly settings?: Partial<AuthorizationSettings>;
  readonly machineAuth: object;
  readonly scopes?: readonly string[];
  /** Claims of the workload's JWT. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly pem?: string;
  readonly message: string;
  readonly next: string;
}

const registered = { clients: [{ clientId: "machine", publicKey: keys.right.publicKey }] };
const trusting = { trustedIssuers: [{ issuer: cloud, publicKey: keys.right.publicKey }] };
const minutes = (count: number): number => Math.floor(Date.now() / 1000) + count * 60;

const refusals: Readonly<Record<string, Refusal>> = {
  "an unknown client": {
    machineAuth: secret,
    message: 'the authorization server does not know client "machine" (invalid_client)',
    next: 'Correct "clientId" under machineAuth of "docs", or register the client with the authorization server.',
  },
  "a wrong secret": {
    settings: { clients: [{ clientId: "machine", clientSecret: "another" }] },
    machineAuth: secret,
    message:
      'client "machine" is unknown to the authorization server, or the client\'s secret is wrong (invalid_client)',
    next: 'Correct "clientId" and "clientSecret" under machineAuth of "docs".',
  },
  "a wrong key": {
    settings: registered,
    machineAuth: byKey,
    pem: keys.wrong.pem,
    message: 'key.pem for client "machine" (invalid_client)',
    next: "Register the public key of",
  },
  "a clock that is behind": {
    settings: { ...registered, clockLead: 7 * 60_000 },
    machineAuth: byKey,
    message: "this machine's clock is 7 min behind (the server's clock shows ",
    next: "Set this machine's clock, for example with NTP, then try again.",
  },
  "a clock that is ahead": {
    settings: { ...registered, clockLead: -3 * 60_000 },
    machineAuth: byKey,
    message: "this machine's clock is 3 min ahead (the server's clock shows ",
    next: "Set this machine's clock, for example with NTP, then try again.",
  },
  "an audience of another service": {
    settings: trusting,
    machineAuth: { kind: "jwt_bearer", assertionFile: "token" },
    claims: { aud: "https://other.example" },
    message: "is for https://other.example, not for http://127.0.0.1",
    next: "Have the JWT issued for http://127.0.0.1",
  },
  "an expired assertion": {
    settings: trusting,
    machineAuth: { kind: "jwt_bearer", assertionFile: "token" },
    claims: { exp: minutes(-5) },
    message: "expired 5 min ago (invalid_grant)",
    next: "Check the program that renews the JWT.",
  },
  "an assertion of a stranger": {
    machineAuth: { kind: "jwt_bearer", assertionFile: "token" },
    message: "the authorization server does not accept the JWT in the file",
    next: "Ask the operator of the authorization server to trust the issuer and the subject of this JWT.",
  },
  "a scope": {
    settings: { clients: [secret] },
    machineAuth: { ...secret, scopes: ["everything"] },
    message: "the authorization server does not grant the scopes everything (invalid_scope)",
    next: 'Correct "scopes" under machineAuth of "docs", or ask the operator of the authorization server to allow them for client "machine".',
  },
  "a grant that is not offered": {
    settings: { clients: [secret], grantTypes: ["authorization_code"] },
    machineAuth: secret,
    message: "the authorization server does not support the requested grant type (unsupported_grant_type)",
    next: 'Choose another "kind" under machineAuth of "docs".',
  },
};

test.each(Object.entries(refusals))("refused for %s", async (_, refusal) => {
  const { settings = {}, machineAuth, claims = {}, pem = keys.right.pem, message, next } = refusal;
  await using scene = await machineScene(settings);
  await scene.folder.write("home/key.pem", pem);
  const all = { iss: cloud, aud: scene.authorization.issuer, ...claims };
  await scene.folder.write("home/token", workloadToken(keys.right.privateKey, all));
  await using host = await scene.host({ kind: "client_credentials", ...machineAuth });
  const state = await failureOf(host);
  expect(state).toMatchObject({ reason: "auth_failed" });
  expect(state.message).toMatch(/^token request for "docs" refused by 127\.0\.0\.1:\d+: /);
  expect(state.message).toContain(message);
  expect(state.next).toContain(next);
  // Asked once: another attempt would not help.
  expect(scene.authorization.callsTo("token")).toHaveLength(1);
});

describe("a key or an assertion that cannot be used is named, and nothing is sent", () => {
  const file = (privateKeyFile: string) => ({ kind: "client_credentials", clientId: "machine", privateKeyFile });
  test.each([
    ["a key file that does not exist", file("none.pem"), "none.pem: the file does not exist"],
    ["a public key", file("public.pem"), "public.pem: the key is a public key"],
    ["a key with a passphrase", file("locked.pem"), "locked.pem: the key has a passphrase"],
    ["something else", file("text.pem"), "text.pem: the text is not a private key in PEM or JWK form"],
    ["a missing assertion", { kind: "jwt_bearer", assertionFile: "none" }, "none does not exist"],
    ["an assertion that is none", { kind: "jwt_bearer", assertionFile: "text.pem" }, "text.pem holds no JWT"],
    ["an unset variable", { kind: "jwt_bearer", assertionEnv: "NOT_SET" }, "the variable NOT_SET is not set"],
  ])("%s", async (_, machineAuth, message) => {
    await using scene = await machineScene();
    const { privateKey, publicKey } = keys.right;
    const locked = { format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "x" } as const;
    await scene.folder.write("home/public.pem", String(publicKey.export({ format: "pem", type: "spki" })));
    await scene.folder.write("home/locked.pem", String(privateKey.export(locked)));
    await scene.folder.write("home/text.pem", "no key");
    await using host = await scene.host(machineAuth);
    const state = await failureOf(host);
    expect(state).toMatchObject({ reason: "auth_failed", message: expect.stringContaining(message) });
    expect(scene.authorization.callsTo("token")).toEqual([]);
  });
});

test("a token endpoint that cannot be reached is no refusal", async () => {
  await using scene = await machineScene();
  await using host = await scene.host({ kind: "client_credentials", ...secret, tokenUrl: "http://127.0.0.1:9/token" });
  expect(await failureOf(host)).toMatchObject({
    reason: "unreachable",
    message: expect.stringMatching(/^token request for "docs" failed: http:\/\/127\.0\.0\.1:9 cannot be reached: /),
  });
});

test("a token that the server refuses although it is new is not requested again and again", async () => {
  await using scene = await machineScene({ clients: [secret] }, { metadata: {} });
  await using other = await machineScene();
  // The server accepts only tokens of another issuer.
  scene.guarded.settings.metadata = { authorization_servers: [scene.authorization.issuer] };
  scene.guarded.settings.authorization = other.authorization;
  await using host = await scene.host({ kind: "client_credentials", ...secret });
  expect(await failureOf(host)).toMatchObject({
    reason: "auth_failed",
    message: `"docs" rejected this machine's new token: the token's audience may be wrong`,
  });
  expect(scene.authorization.callsTo("token").length).toBeLessThan(4);
});
