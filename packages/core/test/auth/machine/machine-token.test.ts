import { expect, test } from "vitest";
import { type MachineTokenOptions, requestMachineToken } from "../../../src/auth/machine/machine-token.ts";
import { createDpopProofs, newDpopKey } from "../../../src/auth/oauth/dpop.ts";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import { HostError } from "../../../src/errors.ts";
import type { MachineAuthSettings } from "../../../src/settings/define/definition.ts";
import { formOf } from "../form-of.ts";
import { newKey, workloadToken } from "./machine-scene.ts";

const target: Credentials = {
  serverName: "docs",
  serverUrl: "https://docs.example/mcp",
  resource: "https://docs.example/mcp",
  issuer: "https://login.example",
  client: { clientId: "machine", authentication: "client_secret_post" },
  endpoints: { token: "https://login.example/token" },
};
const secret: MachineAuthSettings = { kind: "client_credentials", clientId: "machine", clientSecret: "quiet" };
const granted = { access_token: "a", token_type: "Bearer", refresh_token: "r", expires_in: 90, scope: "read" };

/** Requests a token from a stand-in of the token endpoint, which returns `answer`. */
async function request(settings: MachineAuthSettings, more: Partial<MachineTokenOptions> = {}, answer = granted) {
  const forms: Record<string, string>[] = [];
  const steps: string[] = [];
  const tokens = await requestMachineToken({
    settings,
    target,
    env: {},
    post: async (_url, init) => {
      forms.push(formOf(init));
      return Response.json(answer);
    },
    fetchNear: () => () => Promise.reject(new Error("no identity provider")),
    dpop: undefined,
    now: () => 1_000_000,
    observe: ({ action, detail }) => steps.push(`${action}: ${detail}`),
    ...more,
  });
  return { tokens, form: forms[0] ?? {}, steps };
}

function audienceOf(jwt = ""): unknown {
  return JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString())["aud"];
}

test("a machine's token is stored without a refresh token, and the step says how and for how long", async () => {
  const { tokens, form, steps } = await request({ ...secret, audience: "https://api.example" });
  expect(tokens).toEqual({
    accessToken: "a",
    tokenType: "Bearer",
    scope: "read",
    obtainedAt: 1_000_000,
    expiresAt: 1_090_000,
  });
  expect(form).toEqual({
    grant_type: "client_credentials",
    audience: "https://api.example",
    resource: "https://docs.example/mcp",
    client_id: "machine",
    client_secret: "quiet",
  });
  expect(steps).toEqual([
    "token request: https://login.example/token with client_secret_post: Bearer token, valid for 90 s, scopes read",
  ]);
});

test("a token without scopes and without an end is described without them", async () => {
  const { expires_in: _life, scope: _scope, ...least } = granted;
  const client: MachineAuthSettings = { kind: "client_credentials", clientId: "machine" };
  const scoped = { ...target, scopes: ["read", "write"] };
  const { form, steps } = await request(client, { target: scoped }, least as typeof granted);
  expect(form).toMatchObject({ scope: "read write", client_id: "machine" });
  expect(form).not.toHaveProperty("audience");
  expect(steps).toEqual(["token request: https://login.example/token: Bearer token"]);
});

test("the client's JWT is for the issuer, unless the stored sign-in names another audience", async () => {
  const settings: MachineAuthSettings = {
    kind: "client_credentials",
    clientId: "machine",
    privateKey: newKey().pem,
  };
  const before = await request(settings);
  const machine = { assertionAudience: "https://login.example/token" };
  const now = await request(settings, { target: { ...target, machine } });
  expect([before, now].map(({ form }) => audienceOf(form["client_assertion"]))).toEqual([
    "https://login.example",
    "https://login.example/token",
  ]);
  expect(before.steps[0]).toContain(" with private_key_jwt: ");
});

test("a workload's JWT is sent as the grant, without a client", async () => {
  const jwt = workloadToken(newKey().privateKey, { iss: "https://cloud.example" });
  const { form, steps } = await request({ kind: "jwt_bearer", assertionEnv: "WORKLOAD" }, { env: { WORKLOAD: jwt } });
  expect(form).toEqual({
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion: jwt,
    resource: "https://docs.example/mcp",
  });
  expect(steps[0]).toMatch(/^assertion: read from .*WORKLOAD/);
});

test("a request that is called off stays called off; any other error names the endpoint", async () => {
  const failing = (error: Error) => request(secret, { post: () => Promise.reject(error) });
  const stopped = new HostError("cancelled", "stopped");
  await expect(failing(stopped)).rejects.toBe(stopped);
  await expect(failing(new HostError("unreachable", "no route"))).rejects.toMatchObject({
    code: "unreachable",
    message: 'token request for "docs" failed: https://login.example cannot be reached: no route',
    next: "Check the network, then try again.",
  });
});

test.each([
  [
    "another issuer",
    { issuer: "https://other.example" },
    /^\S+ is about https:\/\/other\.example, not about https:\/\/idp\.example$/,
  ],
  ["no token endpoint", { issuer: "https://idp.example" }, /^https:\/\/idp\.example has no metadata with a token end/],
  [
    "a token endpoint without encryption",
    { issuer: "https://idp.example", token_endpoint: "http://idp.example/token" },
    /^"http:\/\/idp\.example\/token" is not an https address$/,
  ],
  ["no connection", undefined, /^https:\/\/idp\.example\S+ cannot be read: no route$/],
])("an identity provider with %s gets no ID token", async (_, metadata, reason) => {
  const jwt = workloadToken(newKey().privateKey, { iss: "https://idp.example" });
  const asked: string[] = [];
  const settings: MachineAuthSettings = {
    kind: "enterprise",
    clientId: "machine",
    assertionEnv: "ID_TOKEN",
    identityProvider: { issuer: "https://idp.example", clientId: "app" },
  };
  const fetchNear = () => async (_url: string | URL, init?: RequestInit) => {
    asked.push(init?.method ?? "GET");
    if (metadata === undefined) throw new HostError("unreachable", "no route");
    return Response.json(metadata);
  };
  const error: unknown = await request(settings, { env: { ID_TOKEN: jwt }, fetchNear }).catch((thrown) => thrown);
  const prefix = 'identity provider of "docs" cannot be used: ';
  expect(error).toMatchObject({
    code: "auth_failed",
    message: expect.stringContaining(prefix),
    next: 'Correct "identityProvider" under machineAuth of "docs".',
  });
  expect(String((error as Error).message).slice(prefix.length)).toMatch(reason);
  expect(asked).not.toContain("POST");
});

test("a machine that sends a DPoP proof accepts only a DPoP token", async () => {
  const dpop = createDpopProofs(newDpopKey());
  const { tokens, steps } = await request(secret, { dpop }, { ...granted, token_type: "DPoP" });
  expect(tokens.tokenType).toBe("DPoP");
  expect(steps[0]).toContain(": DPoP token, ");
  await expect(request(secret, { dpop })).rejects.toThrow('the token_type is "Bearer"; it must be DPoP');
});

test.each([true, false])(
  "the user reads that the clock is wrong only if the request contained a time (with a DPoP proof: %j)",
  async (isDpop) => {
    // The response arrives 2 s after the request, so the server answered in the middle: at 1_001_000.
    let time = 1_000_000;
    const asked = request(secret, {
      dpop: isDpop ? createDpopProofs(newDpopKey()) : undefined,
      now: () => time,
      post: async () => {
        time += 2_000;
        const date = new Date(1_001_000 - 40_000).toUTCString();
        return Response.json({ error: "invalid_client" }, { status: 401, headers: { date } });
      },
    });
    const { message } = await asked.then(
      () => new Error("no refusal"),
      (error: Error) => error,
    );
    expect(message).toContain(
      isDpop
        ? "this machine's clock is 40 s ahead (the server's clock shows 1970-01-01T00:16:02.500Z)"
        : "the client's secret is wrong",
    );
  },
);

test.each([undefined, "https://api.example"])(
  "a machine asks the identity provider for an ID-JAG for the authorization server, or for the audience in the settings: %s",
  async (audience) => {
    const jwt = workloadToken(newKey().privateKey, { iss: "https://idp.example" });
    const idJag = "urn:ietf:params:oauth:token-type:id-jag";
    const sent: unknown[] = [];
    const { form, steps } = await request(
      {
        kind: "enterprise",
        clientId: "machine",
        assertionEnv: "ID_TOKEN",
        identityProvider: { tokenUrl: "https://idp.example/token", clientId: "app" },
        ...(audience !== undefined && { audience }),
      },
      {
        env: { ID_TOKEN: jwt },
        fetchNear: (near) => async (url, init) => {
          sent.push(near, String(url), formOf(init));
          return Response.json({ access_token: "jag", token_type: "N_A", issued_token_type: idJag });
        },
      },
    );
    const wanted = audience ?? "https://login.example";
    expect(sent).toEqual([
      "https://idp.example/token",
      "https://idp.example/token",
      {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        requested_token_type: idJag,
        subject_token: jwt,
        subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
        audience: wanted,
        resource: "https://docs.example/mcp",
        client_id: "app",
      },
    ]);
    expect(form).toMatchObject({ assertion: "jag" });
    expect(steps[1]).toBe(`token exchange: https://idp.example/token: ID-JAG for ${wanted}`);
  },
);
