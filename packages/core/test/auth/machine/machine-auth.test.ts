import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createMachineAuth, type MachineTokens } from "../../../src/auth/machine/machine-auth.ts";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import { type MCPOAuthTokenStorage, openTokenStorage, signInFolder } from "../../../src/auth/store/token-storage.ts";
import { HostError } from "../../../src/errors.ts";
import type { Fetch } from "../../../src/net/bounded-fetch.ts";
import type { MachineAuthSettings } from "../../../src/settings/define/definition.ts";
import { manualClock } from "../../support/manual-clock.ts";

const serverUrl = "https://docs.example/mcp";
const issuer = "https://login.example";
const now = 1_000_000;
const settings: MachineAuthSettings = { kind: "client_credentials", clientId: "machine", clientSecret: "quiet" };

interface Scene extends AsyncDisposable {
  readonly auth: MachineTokens;
  readonly storage: MCPOAuthTokenStorage;
  /** The token requests: their form, and their DPoP proof. */
  readonly forms: Record<string, string>[];
  readonly proofs: (string | null)[];
  readonly near: unknown[];
  readonly steps: string[];
}

interface SceneOptions {
  readonly machineAuth?: MachineAuthSettings;
  /** Members of the server's metadata, and of the authorization server's. */
  readonly resource?: object;
  readonly metadata?: object;
  readonly tokenType?: string;
  readonly broken?: () => Error | undefined;
}

/** A machine's sign-in at stand-ins of the MCP server and its authorization server. */
async function machine(options: SceneOptions = {}): Promise<Scene> {
  const { machineAuth = settings, resource, metadata, tokenType = "Bearer", broken } = options;
  const folder = await temporaryFolder();
  const storage = openTokenStorage({ state: folder.path, env: {}, platform: "linux" });
  const forms: Record<string, string>[] = [];
  const proofs: (string | null)[] = [];
  const near: unknown[] = [];
  const steps: string[] = [];
  const fetch: Fetch = async (url, init) => {
    const path = String(url);
    if (path === `${issuer}/token`) {
      forms.push(Object.fromEntries(new URLSearchParams(typeof init?.body === "string" ? init.body : "")));
      proofs.push(new Headers(init?.headers).get("dpop"));
      const headers = { "dpop-nonce": "n1" };
      return Response.json({ access_token: `t${forms.length}`, token_type: tokenType }, { headers });
    }
    if (path.includes("oauth-protected-resource"))
      return Response.json({ resource: serverUrl, authorization_servers: [issuer], ...resource });
    if (path === `${issuer}/.well-known/oauth-authorization-server`)
      return Response.json({ issuer, token_endpoint: `${issuer}/token`, ...metadata });
    return new Response(null, { status: 404 });
  };
  const auth = createMachineAuth({
    serverName: "docs",
    serverUrl,
    settings: async () => {
      const error = broken?.();
      if (error !== undefined) throw error;
      return machineAuth;
    },
    storage,
    lockFolder: signInFolder(folder.path),
    env: {},
    fetchNear: (url, more) => {
      near.push([url, more]);
      return fetch;
    },
    clock: manualClock(),
    now: () => now,
    random: () => 0,
    observe: ({ action, detail }) => steps.push(`${action}: ${detail}`),
  });
  return { auth, storage, forms, proofs, near, steps, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const { signal } = new AbortController();
const stored: Credentials = {
  serverName: "docs",
  serverUrl,
  resource: serverUrl,
  issuer,
  scopes: ["read"],
  client: { clientId: "machine", authentication: "client_secret_basic" },
  endpoints: { token: `${issuer}/token` },
  machine: { assertionAudience: issuer },
  tokens: { accessToken: "t0", tokenType: "Bearer", obtainedAt: 0 },
};

test("a machine finds the authorization server, and stores the token without its secret", async () => {
  await using scene = await machine({
    metadata: { token_endpoint_auth_signing_alg_values_supported: ["PS256"], scopes_supported: ["offline_access"] },
  });
  const request = { challenge: { scope: "read" }, address: "192.0.2.1" };
  const credentials = await scene.auth.signIn(request, signal);
  expect(credentials).toEqual({
    ...stored,
    machine: { assertionAudience: issuer, signingAlgorithms: ["PS256"] },
    tokens: { accessToken: "t1", tokenType: "Bearer", obtainedAt: now },
  });
  expect(await scene.storage.getCredentials(serverUrl)).toEqual(credentials);
  expect(scene.forms).toEqual([{ grant_type: "client_credentials", scope: "read", resource: serverUrl }]);
  expect(scene.near).toEqual([
    [serverUrl, { address: "192.0.2.1" }],
    [serverUrl, { maxRedirects: 0 }],
  ]);
  expect(scene.steps).toEqual([
    `discovery: authorization server ${issuer}, for ${serverUrl}`,
    `token request: ${issuer}/token with client_secret_basic: Bearer token`,
  ]);
});

test("without an issuer, the address of the token endpoint in the settings stands for it", async () => {
  const machineAuth = { kind: "client_credentials", clientId: "machine", tokenUrl: `${issuer}/token` } as const;
  await using scene = await machine({ machineAuth });
  expect(await scene.auth.signIn({ challenge: {} }, signal)).toMatchObject({
    client: { clientId: "machine", authentication: "none" },
    machine: { assertionAudience: `${issuer}/token` },
  });
  expect(scene.near.at(-1)).toEqual([`${issuer}/token`, { maxRedirects: 0 }]);
});

test("a machine without a client is stored as the client none", async () => {
  await using scene = await machine({ machineAuth: { kind: "client_credentials" } });
  const { client } = await scene.auth.signIn({ challenge: {} }, signal);
  expect(client).toEqual({ clientId: "none", authentication: "none" });
});

test("a machine makes one key, uses it for all later tokens, and keeps the server's nonce", async () => {
  await using scene = await machine({ resource: { dpop_bound_access_tokens_required: true }, tokenType: "DPoP" });
  const first = await scene.auth.signIn({ challenge: {} }, signal);
  const second = await scene.auth.signIn({ challenge: { scope: "more" }, before: [] }, signal);
  expect([first.dpopKey, second.tokens?.accessToken]).toEqual([expect.stringContaining('"P-256"'), "t2"]);
  expect(second.dpopKey).toBe(first.dpopKey);
  const nonces = scene.proofs.map(
    (proof) => JSON.parse(Buffer.from(proof?.split(".")[1] ?? "", "base64url").toString())["nonce"],
  );
  expect(nonces).toEqual([undefined, "n1"]);
});

test.each<[string, object, readonly string[] | undefined, string | undefined, string]>([
  ["a token without an end", {}, undefined, undefined, "t0"],
  ["a token that is still valid", { expiresAt: now + 1 }, undefined, undefined, "t0"],
  ["a token that has just ended", { expiresAt: now }, undefined, undefined, "t1"],
  ["a token with all new scopes", {}, [], "read", "t0"],
  ["a token with the scopes that were not enough", {}, ["read"], "read", "t1"],
  ["a token with only some of the scopes", {}, [], "read write", "t1"],
])("a machine that finds %s in the store", async (_, more, before, scope, token) => {
  await using scene = await machine();
  await scene.storage.saveCredentials({
    ...stored,
    tokens: { accessToken: "t0", tokenType: "Bearer", obtainedAt: 0, ...more },
  });
  const request = { challenge: { ...(scope !== undefined && { scope }) }, ...(before && { before }) };
  expect((await scene.auth.signIn(request, signal)).tokens?.accessToken).toBe(token);
});

test("stored credentials without tokens are no token", async () => {
  await using scene = await machine();
  const { tokens: _, ...signedOut } = stored;
  await scene.storage.saveCredentials(signedOut);
  expect((await scene.auth.signIn({ challenge: {} }, signal)).tokens?.accessToken).toBe("t1");
});

test("a refused token is renewed; only an expected error makes the machine wait", async () => {
  const errors: Error[] = [];
  await using scene = await machine({ broken: () => errors.shift() });
  await scene.storage.saveCredentials(stored);
  const renewed = await scene.auth.keeper.refused(serverUrl, "t0");
  expect(renewed).toEqual({ ...stored, tokens: { accessToken: "t1", tokenType: "Bearer", obtainedAt: now } });
  errors.push(new TypeError("a mistake in the program"));
  await expect(scene.auth.keeper.refused(serverUrl, "t1")).rejects.toThrow(TypeError);
  const failed = new HostError("auth_failed", "no key");
  errors.push(failed);
  await expect(scene.auth.keeper.refused(serverUrl, "t1")).rejects.toBe(failed);
  await expect(scene.auth.keeper.refused(serverUrl, "t1")).rejects.toThrow("no key");
  expect(scene.forms).toHaveLength(1);
});

test.each([undefined, issuer])(
  "credentials go to another authorization server than before only if the settings name it: %s",
  async (named) => {
    await using scene = await machine({ machineAuth: { ...settings, ...(named !== undefined && { issuer: named }) } });
    const { tokens: _, ...signedOut } = stored;
    await scene.storage.saveCredentials({ ...signedOut, issuer: "https://old.example" });
    const signedIn = scene.auth.signIn({ challenge: {} }, signal);
    if (named === undefined)
      await expect(signedIn).rejects.toMatchObject({
        code: "auth_failed",
        message: `"docs" now names another authorization server: ${issuer} instead of https://old.example`,
        serverName: "docs",
        next: `If ${issuer} is right, set it as "issuer" under machineAuth of "docs".`,
      });
    else expect(await signedIn).toMatchObject({ issuer, tokens: { accessToken: "t1" } });
    expect(scene.forms).toHaveLength(named === undefined ? 0 : 1);
  },
);
