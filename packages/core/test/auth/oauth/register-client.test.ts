import { expect, test } from "vitest";
import type { SignInPlan } from "../../../src/auth/oauth/discovery.ts";
import { createFail } from "../../../src/auth/oauth/failure.ts";
import { methodWithSecret } from "../../../src/auth/oauth/metadata.ts";
import {
  askForClientId,
  knownClient,
  type RegistrationOptions,
  registerClient,
} from "../../../src/auth/oauth/registration.ts";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import { HostError } from "../../../src/errors.ts";

const issuer = "https://login.example";
const url = `${issuer}/register`;
const redirectUri = "http://127.0.0.1:7/cb";
const fail = createFail("docs");

function planWith(methods?: readonly string[], takesMetadataDocuments = false): SignInPlan {
  return {
    resource: "https://docs.example/mcp",
    server: {
      issuer,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: url,
      client_id_metadata_document_supported: takesMetadataDocuments,
      ...(methods && { token_endpoint_auth_methods_supported: [...methods] }),
    },
    isIssuerKnown: true,
    scopes: [],
    mustListPkce: true,
    isDpop: false,
    isGuess: false,
  };
}

/** Registers a client at a server that answers with this text. Returns the request and the outcome. */
async function register(body: unknown, status = 201, more: Partial<RegistrationOptions> = {}) {
  const requests: unknown[] = [];
  const outcome = await registerClient({
    plan: planWith(),
    redirectUri,
    scopes: [],
    isDevice: false,
    fail,
    fetch: async (asked, { body: sent, ...init } = {}) => {
      requests.push({ asked, ...init, sent: typeof sent === "string" ? JSON.parse(sent) : sent });
      return new Response(typeof body === "string" ? body : JSON.stringify(body), { status });
    },
    ...more,
  }).catch((error: unknown) => (error instanceof HostError ? [error.code, error.message] : error));
  return { requests, outcome };
}

const basic = {
  client_name: "Fairlead",
  application_type: "native",
  redirect_uris: [redirectUri],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

test.each<[string, Partial<RegistrationOptions>, object]>([
  ["without scopes", {}, basic],
  ["with scopes", { scopes: ["a", "b"] }, { ...basic, scope: "a b" }],
  [
    "for a device",
    { isDevice: true },
    { ...basic, grant_types: [...basic.grant_types, "urn:ietf:params:oauth:grant-type:device_code"] },
  ],
  [
    "where a secret is needed",
    { plan: planWith(["client_secret_basic", "client_secret_post"]) },
    { ...basic, token_endpoint_auth_method: "client_secret_basic" },
  ],
  [
    "where only a secret in the form is supported",
    { plan: planWith(["client_secret_post"]) },
    { ...basic, token_endpoint_auth_method: "client_secret_post" },
  ],
])("a registration request %s is written as RFC 7591 says", async (_, more, sent) => {
  expect((await register({ client_id: "c" }, 201, more)).requests).toEqual([
    {
      asked: url,
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", "user-agent": "fairlead" },
      redirect: "error",
      signal: null,
      sent,
    },
  ]);
});

const client = (answer: object, more: object = {}) => ({
  clientId: "c",
  redirectUri,
  authentication: "none",
  registration: answer,
  ...more,
});

test.each<[object, object]>([
  [{ client_id: "c" }, {}],
  [{ client_id: "c", token_endpoint_auth_method: "client_secret_post" }, {}],
  [
    { client_id: "c", client_secret: "s" },
    { clientSecret: "s", authentication: "client_secret_basic" },
  ],
  ...["none", "client_secret_post", "client_secret_basic"].map((method): [object, object] => [
    { client_id: "c", client_secret: "s", token_endpoint_auth_method: method },
    { clientSecret: "s", authentication: method },
  ]),
  [
    { client_id: "c", client_secret: "s", token_endpoint_auth_method: "private_key_jwt" },
    { clientSecret: "s", authentication: "client_secret_basic" },
  ],
  [{ client_id: "c", client_secret_expires_at: 0 }, {}],
  [{ client_id: "c", client_secret_expires_at: "7" }, {}],
  [{ client_id: "c", client_secret_expires_at: 7 }, { expiresAt: 7000 }],
])("the answer %j makes a client with %j", async (answer, more) => {
  expect((await register(answer)).outcome).toEqual(client(answer, more));
});

test("a long answer is not stored as a whole", async () => {
  const padded = (length: number) => {
    const rest = JSON.stringify({ client_id: "c", note: "" }).length;
    return { client_id: "c", note: "x".repeat(length - rest) };
  };
  expect((await register(padded(16_000))).outcome).toHaveProperty("registration");
  expect((await register(padded(16_001))).outcome).toEqual({ clientId: "c", redirectUri, authentication: "none" });
});

const failed = (why: string) => ["auth_failed", `sign-in to "docs" failed at the client registration step: ${why}`];

test.each<[unknown, number, unknown]>([
  [{ error: "e", error_description: "d", client_id: "c" }, 400, { why: `${url} answered 400 (e: d)` }],
  [{ error_description: "d" }, 403, { why: `${url} answered 403 (d)` }],
  [{ error: "e" }, 200, { why: `${url} answered 200 (e)` }],
  ["no JSON", 404, { why: `${url} answered 404` }],
  [{}, 201, { why: `${url} answered 201` }],
  [{ error: "x".repeat(301) }, 499, { why: `${url} answered 499 (${"x".repeat(300)})` }],
  [{ error: "e" }, 429, failed(`${url} answered 429 (e)`)],
  ["", 500, failed(`${url} answered 500`)],
  ["", 503, failed(`${url} answered 503`)],
])("the answer %j with status %i registers no client", async (answer, status, expected) => {
  expect((await register(answer, status)).outcome).toEqual(expected);
});

test("a server without a registration endpoint registers no client, and is not asked", async () => {
  const plan = planWith();
  const { registration_endpoint: _, ...server } = plan.server;
  expect(await register({}, 201, { plan: { ...plan, server } })).toEqual({
    requests: [],
    outcome: { why: `${issuer} does not register clients automatically` },
  });
});

test("an endpoint that cannot be reached ends the sign-in", async () => {
  const fetch = async () => Promise.reject(new Error("socket closed"));
  expect((await register({}, 201, { fetch })).outcome).toEqual(failed(`${url} cannot be reached: socket closed`));
});

test.each<[readonly string[] | undefined, string]>([
  [undefined, "client_secret_basic"],
  [["client_secret_basic", "client_secret_post"], "client_secret_basic"],
  [["client_secret_post"], "client_secret_post"],
  [["none"], "client_secret_basic"],
])("where %j is supported, a secret is sent with %s", (methods, method) => {
  expect(methodWithSecret(planWith(methods).server)).toBe(method);
});

const stored = (more: Partial<Credentials> = {}, expiresAt?: number): Credentials => ({
  serverName: "docs",
  serverUrl: "https://docs.example/mcp",
  resource: "https://docs.example/mcp",
  issuer,
  client: { clientId: "stored", redirectUri, ...(expiresAt !== undefined && { expiresAt }) },
  endpoints: { token: `${issuer}/token` },
  ...more,
});

test.each<[string, Partial<Parameters<typeof knownClient>[0]>, unknown]>([
  ["nothing is known", {}, undefined],
  ["the settings name one", { oauth: { clientId: "mine" }, stored: stored() }, { clientId: "mine" }],
  [
    "the settings name one with a secret",
    { oauth: { clientId: "mine", clientSecret: "s" }, plan: planWith(["client_secret_post"]) },
    { clientId: "mine", clientSecret: "s", authentication: "client_secret_post" },
  ],
  [
    "there is a metadata document, and the server takes it",
    { clientMetadataUrl: "https://us.example/c.json", plan: planWith(undefined, true), stored: stored() },
    { clientId: "https://us.example/c.json", authentication: "none" },
  ],
  [
    "there is a metadata document that the server does not take",
    { clientMetadataUrl: "https://us.example" },
    undefined,
  ],
  ["the server takes metadata documents, but there is none", { plan: planWith(undefined, true) }, undefined],
  ["one is stored", { stored: stored() }, { clientId: "stored", redirectUri }],
  ["one of another server is stored", { stored: stored({ issuer: "https://other.example" }) }, undefined],
  ["one without a redirect URI is stored", { stored: stored({ client: { clientId: "stored" } }) }, undefined],
  [
    "the stored one is valid for a moment",
    { stored: stored({}, 101) },
    { clientId: "stored", redirectUri, expiresAt: 101 },
  ],
  ["the stored one has expired now", { stored: stored({}, 100) }, undefined],
])("a sign-in uses a known client if %s", (_, more, expected) => {
  expect(knownClient({ plan: planWith(), oauth: {}, now: () => 100, ...more })).toEqual(expected);
});

test("the user is asked for a client, and an empty answer ends the sign-in", async () => {
  const { signal } = new AbortController();
  const asked: unknown[] = [];
  const ask = (answer: string | undefined) =>
    askForClientId(
      {
        serverName: "docs",
        plan: planWith(),
        redirectUri,
        why: "no registration",
        fail,
        ui: {
          show: () => undefined,
          browserFirst: false,
          ...(answer !== undefined && {
            askClientId: async (question: object) => {
              asked.push(question);
              return answer;
            },
          }),
        },
      },
      signal,
    );
  expect(await ask(" mine ")).toEqual({ clientId: "mine", redirectUri });
  expect(asked).toEqual([{ serverName: "docs", issuer, redirectUri, why: "no registration" }]);
  for (const answer of ["  ", undefined])
    await expect(ask(answer)).rejects.toMatchObject({
      message: failed("no registration")[1],
      next: `Register a client at ${issuer}, then add its ID to "docs" in settings.json: "oauth": {"clientId": "…"}`,
    });
});

test.each(["none", "client_secret_post", "client_secret_basic"])(
  "a client that the server registered for the method %s uses it, even if the metadata lists another method",
  async (method) => {
    const other = method === "client_secret_post" ? "client_secret_basic" : "client_secret_post";
    const answer = { client_id: "id", client_secret: "word", token_endpoint_auth_method: method };
    const { outcome } = await register(answer, 201, { plan: planWith([other]) });
    expect(outcome).toMatchObject({ clientId: "id", clientSecret: "word", authentication: method });
  },
);
