import { expect, test } from "vitest";
import { revokeTokens } from "../../../src/auth/oauth/endpoint-request.ts";
import { requestTokens, type TokenAnswer, type TokenRequest } from "../../../src/auth/oauth/token-request.ts";
import type { StoredClient } from "../../../src/auth/store/credentials.ts";
import { formOf } from "../form-of.ts";

interface Sent {
  readonly url: string;
  readonly form: Record<string, string>;
  readonly authorization: string | null;
  readonly dpop: string | null;
  readonly init: RequestInit | undefined;
}

/** Sends a token request to a stand-in of the token endpoint, which answers so. */
async function request(
  more: Partial<TokenRequest> = {},
  answer: () => Response = () => Response.json({ access_token: "a", token_type: "Bearer" }),
): Promise<{ readonly sent: readonly Sent[]; readonly answer: TokenAnswer }> {
  const sent: Sent[] = [];
  const outcome = await requestTokens({
    url: "https://i/t",
    client: { clientId: "id" },
    grant: "g",
    parameters: { a: "1 2" },
    now: () => 7,
    fetch: async (url, init) => {
      const headers = new Headers(init?.headers);
      sent.push({
        url: String(url),
        form: formOf(init),
        authorization: headers.get("authorization"),
        dpop: headers.get("dpop"),
        init,
      });
      return answer();
    },
    ...more,
  });
  return { sent, answer: outcome };
}

/** Returns what authenticates the client in a token request. */
async function proofOf(client: StoredClient | undefined): Promise<object> {
  const [{ form, authorization } = { form: {}, authorization: null }] = (await request({ client })).sent;
  const { a: _, grant_type: _grant, ...parameters } = form as Record<string, string>;
  return { ...(authorization !== null && { authorization }), ...parameters };
}

const registered = (method: string) => ({ registration: { token_endpoint_auth_method: method } });
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });
const secret = { clientId: "id", clientSecret: "word" };
const posted = { client_id: "id", client_secret: "word" };
const named = { client_id: "id" };

test("a token request is a form, which is never sent anywhere else", async () => {
  const [first] = (await request()).sent;
  expect(first).toMatchObject({ url: "https://i/t", form: { grant_type: "g", a: "1 2", client_id: "id" } });
  expect(first?.init).toMatchObject({ method: "POST", redirect: "error" });
  expect(Object.fromEntries(new Headers(first?.init?.headers))).toEqual({
    "content-type": "application/x-www-form-urlencoded;charset=UTF-8",
    accept: "application/json",
    "user-agent": "fairlead",
  });
});

test("a client without a secret says its name, whatever it was registered for", async () => {
  expect(await proofOf({ clientId: "id" })).toEqual(named);
  expect(await proofOf({ clientId: "id", clientSecret: "" })).toEqual(named);
  expect(await proofOf({ clientId: "id", authentication: "client_secret_post" })).toEqual(named);
  expect(await proofOf(undefined)).toEqual({});
});

test("a client with a secret proves itself in the way it was registered for", async () => {
  expect(await proofOf({ ...secret, authentication: "client_secret_post" })).toEqual(posted);
  expect(await proofOf({ ...secret, ...registered("client_secret_post") })).toEqual(posted);
  expect(await proofOf({ ...secret, ...registered("client_secret_basic") })).toEqual(basic("id:word"));
  expect(await proofOf({ ...secret, ...registered("none") })).toEqual(named);
  expect(await proofOf({ ...secret, authentication: "client_secret_post", ...registered("none") })).toEqual(posted);
});

test("without a word about it, or with an unknown one, it is the standard's own way", async () => {
  expect(await proofOf(secret)).toEqual(basic("id:word"));
  expect(await proofOf({ ...secret, ...registered("private_key_jwt") })).toEqual(basic("id:word"));
});

test("no character of an ID or a secret moves the border between them", async () => {
  const client = { clientId: "a:b c", clientSecret: "d:e%&ü" };
  expect(await proofOf(client)).toEqual(basic("a%3Ab+c:d%3Ae%25%26%C3%BC"));
});

test("an ID and a secret of usual characters reach a server that does not decode them", async () => {
  const client = { clientId: "1b-2_c.d*e", clientSecret: "s-e_c.r*et" };
  expect(await proofOf(client)).toEqual(basic("1b-2_c.d*e:s-e_c.r*et"));
});

test("a request is sent again with the nonce that the server demands, and the client is authenticated anew", async () => {
  const posting = async (status: number, error: string): Promise<unknown> => {
    const nonces: string[] = [];
    let times = 0;
    const { sent } = await request(
      {
        dpop: {
          proofFor: ({ method, url, now }) => `${method} ${url} ${now} ${nonces.at(-1) ?? "none"}`,
          keepNonce: (_url, nonce) => !nonces.includes(nonce) && nonces.push(nonce) > 0,
        },
        authenticate(_server, _client, body) {
          times += 1;
          body.set("client_assertion", `proof ${times}`);
        },
      },
      () => Response.json({ error }, { status, headers: { "dpop-nonce": "n1" } }),
    );
    return sent.map(({ dpop, form }) => [dpop, form["a"], form["client_assertion"]]);
  };
  const first = ["POST https://i/t 7 none", "1 2", "proof 1"];
  expect(await posting(400, "use_dpop_nonce")).toEqual([first, ["POST https://i/t 7 n1", "1 2", "proof 2"]]);
  expect(await posting(200, "use_dpop_nonce")).toEqual([first]);
  expect(await posting(400, "invalid_grant")).toEqual([first]);
});

test("without a key, a nonce is no reason to send the request again", async () => {
  const { sent } = await request({}, () =>
    Response.json({ error: "use_dpop_nonce" }, { status: 400, headers: { "dpop-nonce": "n1" } }),
  );
  expect(sent.map(({ dpop }) => dpop)).toEqual([null]);
});

test("the secrets of a request are hidden in the server's error, also where it is cut", async () => {
  const names = ["code", "code_verifier", "device_code", "refresh_token", "assertion", "subject_token"];
  const parameters = Object.fromEntries(names.map((name) => [name, `the ${name} here`]));
  const authenticate: TokenRequest["authenticate"] = (_server, _client, body, headers) => {
    body.set("client_assertion", "signed by the client");
    headers.set("authorization", "Basic aWQ6d29yZA==");
  };
  const error_description = [...Object.values(parameters), "signed by the client", "aWQ6d29yZA==", "word"].join("+");
  const refused = async (body: object): Promise<unknown> =>
    (await request({ client: secret, parameters, authenticate }, () => Response.json(body, { status: 400 }))).answer;
  expect(await refused({ error: "invalid_grant", error_description })).toEqual({
    kind: "error",
    error: "invalid_grant",
    description: Array(9).fill("(hidden)").join("+"),
  });
  const cut = { error: `${"e".repeat(90)}the code here`, error_description: `${"d".repeat(990)}the code here` };
  expect(await refused(cut)).toEqual({
    kind: "error",
    error: `${"e".repeat(90)}(hidden)`,
    description: `${"d".repeat(990)}(hidden)`,
  });
});

test("a secret that is part of an error code by chance does not change the code", async () => {
  const client = { clientId: "id", clientSecret: "invalid" };
  const { answer } = await request({ client }, () => Response.json({ error: "invalid_grant" }, { status: 400 }));
  expect(answer).toEqual({ kind: "error", error: "invalid_grant" });
});

test("an error says how far this machine's clock is ahead, if the server tells the time", async () => {
  const headers = { date: new Date(1_000_000).toUTCString() };
  const { answer } = await request({ now: () => 1_060_500 }, () =>
    Response.json({ error: "invalid_client" }, { status: 401, headers }),
  );
  expect(answer).toEqual({ kind: "error", error: "invalid_client", clockLead: 60_000 });
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
    sent.push(formOf(init));
    return Promise.reject(new Error("no route"));
  });
  expect([revoked, sent]).toEqual([
    "failed",
    [
      { token: "r", token_type_hint: "refresh_token", client_id: "id" },
      { token: "a", token_type_hint: "access_token", client_id: "id" },
    ],
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
    sent.push([String(url), formOf(init)["token"]]);
    return new Response(null, { status: left.shift() ?? 500 });
  });
  expect([revoked, sent]).toEqual([outcome, tokens.map((token) => ["https://i/v", token])]);
});
