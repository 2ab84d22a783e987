import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { SignInRequest } from "../../../src/auth/auth-hook.ts";
import { createMachineAuth, type MachineTokens } from "../../../src/auth/machine/machine-auth.ts";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import { type MCPOAuthTokenStorage, openTokenStorage, signInFolder } from "../../../src/auth/store/token-storage.ts";
import { HostError } from "../../../src/errors.ts";
import type { Fetch } from "../../../src/net/bounded-fetch.ts";
import type { MachineAuthSettings } from "../../../src/settings/define/definition.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { formOf } from "../form-of.ts";

const serverUrl = "https://docs.example/mcp";
const issuer = "https://login.example";
const now = 1_000_000;
const settings: MachineAuthSettings = { kind: "client_credentials", clientId: "machine", clientSecret: "quiet" };

interface Scene extends AsyncDisposable {
  readonly auth: MachineTokens;
  readonly storage: MCPOAuthTokenStorage;
  /** The forms of the token requests. */
  readonly forms: Record<string, string>[];
  /** The DPoP proofs of the token requests. */
  readonly proofs: (string | null)[];
  /** The arguments of each call of `fetchNear`. */
  readonly near: unknown[];
  /** The steps that the sign-in reported. */
  readonly steps: string[];
}

interface SceneOptions {
  readonly machineAuth?: MachineAuthSettings;
  /** More members of the MCP server's metadata. */
  readonly resource?: object;
  /** More members of the authorization server's metadata. */
  readonly metadata?: object;
  readonly tokenType?: string;
  /** Called whenever the settings are read. If it returns an error, the settings cannot be read. */
  readonly settingsError?: () => Error | undefined;
}

/** A machine's sign-in at stand-ins of the MCP server and its authorization server. */
async function machine(options: SceneOptions = {}): Promise<Scene> {
  const { machineAuth = settings, resource, metadata, tokenType = "Bearer", settingsError } = options;
  const folder = await temporaryFolder();
  const storage = openTokenStorage({ state: folder.path, env: {}, platform: "linux" });
  const forms: Record<string, string>[] = [];
  const proofs: (string | null)[] = [];
  const near: unknown[] = [];
  const steps: string[] = [];
  const fetch: Fetch = async (url, init) => {
    const path = String(url);
    if (path === `${issuer}/token`) {
      forms.push(formOf(init));
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
      const error = settingsError?.();
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

test("if the settings name a token endpoint and no issuer, the endpoint's URL is the audience of the client's JWTs", async () => {
  const machineAuth = { kind: "client_credentials", clientId: "machine", tokenUrl: `${issuer}/token` } as const;
  await using scene = await machine({ machineAuth });
  expect(await scene.auth.signIn({ challenge: {} }, signal)).toMatchObject({
    client: { clientId: "machine", authentication: "none" },
    machine: { assertionAudience: `${issuer}/token` },
  });
  expect(scene.near.at(-1)).toEqual([`${issuer}/token`, { maxRedirects: 0 }]);
});

test('the sign-in of a machine without a client is stored with the client ID "none"', async () => {
  await using scene = await machine({ machineAuth: { kind: "client_credentials" } });
  const { client } = await scene.auth.signIn({ challenge: {} }, signal);
  expect(client).toEqual({ clientId: "none", authentication: "none" });
});

test("a machine creates one DPoP key, uses it for the next token too, and sends the server's nonce", async () => {
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

test.each<["uses" | "replaces", string, object, SignInRequest]>([
  ["uses", "has no end", {}, { challenge: {} }],
  ["uses", "is still valid", { expiresAt: now + 1 }, { challenge: {} }],
  ["replaces", "has just expired", { expiresAt: now }, { challenge: {} }],
  ["uses", "has the scopes that the server now demands", {}, { challenge: { scope: "read" }, before: [] }],
  ["replaces", "has the scopes that were not enough", {}, { challenge: { scope: "read" }, before: ["read"] }],
  ["replaces", "lacks a scope that the server demands", {}, { challenge: { scope: "read write" }, before: [] }],
])("a machine %s a stored token that %s", async (verb, _, more, request) => {
  await using scene = await machine();
  await scene.storage.saveCredentials({
    ...stored,
    tokens: { accessToken: "t0", tokenType: "Bearer", obtainedAt: 0, ...more },
  });
  const { tokens } = await scene.auth.signIn(request, signal);
  expect(tokens?.accessToken).toBe(verb === "uses" ? "t0" : "t1");
});

test("a machine whose stored credentials have no tokens requests a token", async () => {
  await using scene = await machine();
  const { tokens: _, ...signedOut } = stored;
  await scene.storage.saveCredentials(signedOut);
  expect((await scene.auth.signIn({ challenge: {} }, signal)).tokens?.accessToken).toBe("t1");
});

test("a machine renews a refused token; after a HostError it waits before the next attempt, after other errors not", async () => {
  const errors: Error[] = [];
  await using scene = await machine({ settingsError: () => errors.shift() });
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
  "a machine requests a token from another authorization server than before only if the settings name it (issuer: %s)",
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
