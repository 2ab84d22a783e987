import { expect, test } from "vitest";
import { createFail } from "../../../src/auth/oauth/failure.ts";
import {
  askForTokens,
  exchangeCode,
  readTokenAnswer,
  reasonIn,
  type TokenRequestOptions,
} from "../../../src/auth/oauth/token-request.ts";
import { HostError } from "../../../src/errors.ts";
import { formOf } from "../form-of.ts";

const url = "https://login.example/token";
const code = { code: "the-code", verifier: "the-verifier", redirectUri: "http://127.0.0.1:7/cb" };
const good = { access_token: "a", token_type: "Bearer" };

interface Sent {
  readonly url: string;
  readonly init: RequestInit | undefined;
}

/** The options of a token request that is answered so, and what was sent. */
function scene(answer: () => Response, more: Partial<TokenRequestOptions> = {}) {
  const sent: Sent[] = [];
  const options: TokenRequestOptions = {
    plan: {
      resource: "https://h.example/mcp",
      server: { issuer: "https://login.example", token_endpoint: url },
      isIssuerKnown: true,
      scopes: [],
      mustListPkce: false,
      isDpop: false,
      isGuess: false,
    },
    client: { clientId: "one" },
    audiences: [],
    post: async (address, init) => {
      sent.push({ url: String(address), init });
      return answer();
    },
    now: () => 5_000,
    fail: createFail("docs"),
    ...more,
  };
  return { options, sent };
}

test("a code is sent with its verifier and its redirect URI, and is worth the tokens of the answer", async () => {
  const { options, sent } = scene(() => Response.json({ ...good, expires_in: 60 }));
  expect(await exchangeCode(code, options)).toEqual({
    accessToken: "a",
    tokenType: "Bearer",
    obtainedAt: 5_000,
    expiresAt: 65_000,
  });
  expect(sent.map((each) => [each.url, each.init?.method, each.init?.redirect, formOf(each.init)])).toEqual([
    [
      url,
      "POST",
      "error",
      {
        grant_type: "authorization_code",
        code: "the-code",
        code_verifier: "the-verifier",
        redirect_uri: "http://127.0.0.1:7/cb",
        resource: "https://h.example/mcp",
        client_id: "one",
      },
    ],
  ]);
});

test("audiences of the settings are sent as one text", async () => {
  const { options, sent } = scene(() => Response.json(good), { audiences: ["https://a.example", "b"] });
  await askForTokens("x", {}, options);
  expect(sent.map(({ init }) => formOf(init))).toEqual([
    { grant_type: "x", resource: "https://h.example/mcp", audience: "https://a.example b", client_id: "one" },
  ]);
});

test("tokens that are bound to a key must be of that kind, and are asked for with a proof", async () => {
  const dpop = { proofFor: (about: object) => JSON.stringify(about), keepNonce: () => false };
  const bound = scene(() => Response.json({ ...good, token_type: "dpop" }), { dpop });
  expect(await askForTokens("x", {}, bound.options)).toMatchObject({ kind: "tokens", tokens: { tokenType: "DPoP" } });
  expect(new Headers(bound.sent[0]?.init?.headers).get("dpop")).toBe(
    JSON.stringify({ method: "POST", url, now: 5_000 }),
  );
  expect(await askForTokens("x", {}, scene(() => Response.json(good), { dpop }).options)).toEqual({
    kind: "unusable",
    reason: 'the token_type is "Bearer"; it must be DPoP',
  });
});

test("a client that the authorization server does not know is told apart from other refusals", async () => {
  const refusing = (error: string) => scene(() => Response.json({ error }, { status: 401 })).options;
  expect(await exchangeCode(code, refusing("invalid_client"))).toBe("invalid_client");
  await expect(exchangeCode(code, refusing("invalid_grant"))).rejects.toMatchObject({
    code: "auth_failed",
    message:
      'sign-in to "docs" failed at the token request step: https://login.example returned no tokens: invalid_grant',
  });
});

test("a refusal is told without the code and the verifier that it quotes", async () => {
  const error_description = "the-code does not fit the-verifier";
  const { options } = scene(() => Response.json({ error: "invalid_grant", error_description }, { status: 400 }));
  await expect(exchangeCode(code, options)).rejects.toThrow(/: invalid_grant: \(hidden\) does not fit \(hidden\)$/);
});

test("an endpoint that cannot be reached is named, and a cancellation is passed on as it is", async () => {
  const down = new Error("the network is down");
  const failing = (error: Error) =>
    scene(() => {
      throw error;
    }).options;
  await expect(exchangeCode(code, failing(down))).rejects.toMatchObject({
    message: `sign-in to "docs" failed at the token request step: ${url} cannot be reached: the network is down`,
    cause: down,
  });
  const cancelled = new HostError("cancelled", "stopped", {});
  await expect(exchangeCode(code, failing(cancelled))).rejects.toBe(cancelled);
});

test.each([
  [{ kind: "error", error: "invalid_grant" }, "invalid_grant"],
  [{ kind: "error", error: "invalid_grant", description: "too late" }, "invalid_grant: too late"],
  [{ kind: "error", error: "e", description: "d".repeat(400) }, `e: ${"d".repeat(297)}`],
  [{ kind: "unavailable", status: 503 }, "the token endpoint answered HTTP 503; try again later"],
  [{ kind: "unusable", reason: "it is no JSON" }, "it is no JSON"],
] as const)("%j is told in words", (answer, words) => {
  expect(reasonIn(answer)).toBe(words);
});

test.each([
  [{ scope: "s".repeat(4_001) }, { scope: "s".repeat(4_000) }],
  [{ expires_in: "999999999999" }, { expiresAt: 1 + 10 * 365 * 24 * 3_600_000 }],
  [{ expires_in: "1234567890123" }, {}],
  [{ expires_in: " 60" }, {}],
  [{ id_token: "i d" }, {}],
])("of a token answer with %j at most so much is kept", async (said, kept) => {
  expect(await readTokenAnswer(Response.json({ ...good, ...said }), { askedAt: 1, tokenType: "Bearer" })).toEqual({
    kind: "tokens",
    tokens: { accessToken: "a", tokenType: "Bearer", obtainedAt: 1, ...kept },
  });
});
