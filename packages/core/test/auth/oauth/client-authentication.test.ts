import { expect, test } from "vitest";
import type { DpopProofs } from "../../../src/auth/oauth/dpop.ts";
import { clientProof, postForm, revokeTokens } from "../../../src/auth/oauth/endpoint-request.ts";

const registered = (method: string) => ({ registration: { token_endpoint_auth_method: method } });
const basic = (text: string) => ({
  headers: { authorization: `Basic ${Buffer.from(text).toString("base64")}` },
  parameters: {},
});
const secret = { clientId: "id", clientSecret: "word" };
const posted = { headers: {}, parameters: { client_id: "id", client_secret: "word" } };
const named = { headers: {}, parameters: { client_id: "id" } };

test("a client without a secret says its name, whatever it was registered for", () => {
  expect(clientProof({ clientId: "id" })).toEqual(named);
  expect(clientProof({ clientId: "id", authentication: "client_secret_post" })).toEqual(named);
});

test("a client with a secret proves itself in the way it was registered for", () => {
  expect(clientProof({ ...secret, authentication: "client_secret_post" })).toEqual(posted);
  expect(clientProof({ ...secret, ...registered("client_secret_post") })).toEqual(posted);
  expect(clientProof({ ...secret, ...registered("client_secret_basic") })).toEqual(basic("id:word"));
  expect(clientProof({ ...secret, ...registered("none") })).toEqual(named);
  expect(clientProof({ ...secret, authentication: "client_secret_post", ...registered("none") })).toEqual(posted);
});

test("without a word about it, or with one that nobody knows, it is the standard's own way", () => {
  expect(clientProof(secret)).toEqual(basic("id:word"));
  expect(clientProof({ ...secret, ...registered("private_key_jwt") })).toEqual(basic("id:word"));
});

test("no character of an ID or a secret moves the border between them", () => {
  expect(clientProof({ clientId: "a:b c", clientSecret: "d:e%&ü" })).toEqual(basic("a%3Ab+c:d%3Ae%25%26%C3%BC"));
});

test("a form is sent again with the nonce that the server demands, and with a new proof of the client", async () => {
  const nonces: string[] = [];
  const proofs: DpopProofs = {
    proofFor: ({ method, url: about, now }) => `${method} ${about} ${now} ${nonces.at(-1) ?? "none"}`,
    keepNonce: (_url, nonce) => !nonces.includes(nonce) && nonces.push(nonce) > 0,
  };
  const posting = async (status: number, error: string, isRenewed: boolean): Promise<readonly unknown[]> => {
    const sent: unknown[] = [];
    nonces.length = 0;
    const response = await postForm({
      url: "https://i/t",
      proof: { headers: { authorization: "one" }, parameters: { client_id: "id" } },
      ...(isRenewed && { renewProof: async () => ({ headers: { authorization: "two" }, parameters: {} }) }),
      parameters: { a: "1" },
      fetch: async (_url, init) => {
        const headers = new Headers(init?.headers);
        sent.push([headers.get("authorization"), headers.get("dpop"), init?.body]);
        return Response.json({ error }, { status, headers: { "dpop-nonce": "n1" } });
      },
      dpop: { proofs, now: () => 7 },
    });
    expect(response.status).toBe(status);
    return sent;
  };
  const first = ["one", "POST https://i/t 7 none", "a=1&client_id=id"];
  expect(await posting(400, "use_dpop_nonce", true)).toEqual([first, ["two", "POST https://i/t 7 n1", "a=1"]]);
  expect(await posting(400, "use_dpop_nonce", false)).toEqual([
    first,
    ["one", "POST https://i/t 7 n1", "a=1&client_id=id"],
  ]);
  expect(await posting(400, "invalid_grant", true)).toEqual([first]);
  expect(await posting(200, "use_dpop_nonce", true)).toEqual([first]);
});

test("a form has the headers of a form, asks for JSON, follows no redirect, and without a DPoP key is sent only once", async () => {
  const sent: unknown[] = [];
  const response = await postForm({
    url: "https://i/t",
    proof: { headers: { authorization: "one" }, parameters: { client_id: "id" } },
    parameters: { a: "1 2" },
    fetch: async (url, init) => {
      sent.push([url, init]);
      return Response.json({ error: "use_dpop_nonce" }, { status: 400, headers: { "dpop-nonce": "n1" } });
    },
  });
  expect(response.status).toBe(400);
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    accept: "application/json",
    authorization: "one",
  };
  expect(sent).toEqual([["https://i/t", { method: "POST", headers, body: "a=1+2&client_id=id", redirect: "error" }]]);
});

const withTokens = {
  serverName: "docs",
  serverUrl: "https://h/mcp",
  resource: "https://h/mcp",
  issuer: "https://i",
  client: { clientId: "id" },
  endpoints: { token: "https://i/t", revocation: "https://i/v" },
  tokens: { accessToken: "a", tokenType: "Bearer", obtainedAt: 1 },
};

test("to revoke tokens, the client names the kind of each token; if the server cannot be reached, this fails", async () => {
  const sent: unknown[] = [];
  const credentials = { ...withTokens, tokens: { ...withTokens.tokens, refreshToken: "r" } };
  const revoked = await revokeTokens(credentials, (_url, init) => {
    sent.push(init?.body);
    return Promise.reject(new Error("no route"));
  });
  expect([revoked, sent]).toEqual([
    "failed",
    ["token=r&token_type_hint=refresh_token&client_id=id", "token=a&token_type_hint=access_token&client_id=id"],
  ]);
});

test("without a revocation endpoint, or without tokens, the client sends no request to revoke tokens", async () => {
  const { tokens: _, ...signedOut } = withTokens;
  const asked: unknown[] = [];
  for (const credentials of [signedOut, { ...withTokens, endpoints: { token: "https://i/t" } }])
    expect(
      await revokeTokens(credentials, async (url) => {
        asked.push(url);
        return new Response();
      }),
    ).toBe("unsupported");
  expect(asked).toEqual([]);
});

test.each([
  ["both", ["r", "a"], [200, 200], "revoked"],
  ["the refresh token fails", ["r", "a"], [500, 200], "failed"],
  ["the access token fails", ["r", "a"], [200, 500], "failed"],
  ["there is no refresh token", ["a"], [200], "revoked"],
])("tokens are revoked one after the other: %s", async (_, tokens, statuses, outcome) => {
  const sent: unknown[] = [];
  const left = [...statuses];
  const credentials = {
    ...withTokens,
    tokens: { ...withTokens.tokens, ...(tokens.includes("r") && { refreshToken: "r" }) },
  };
  const revoked = await revokeTokens(credentials, async (url, init) => {
    sent.push([String(url), new URLSearchParams(init?.body as string).get("token")]);
    return new Response(null, { status: left.shift() ?? 500 });
  });
  expect([revoked, sent]).toEqual([outcome, tokens.map((token) => ["https://i/v", token])]);
});
