import { expect, test } from "vitest";
import { newDpopKey } from "../../../src/auth/oauth/dpop.ts";
import { type RefreshOutcome, refreshTokens } from "../../../src/auth/oauth/refresh-outcome.ts";
import { notFinished } from "../../../src/auth/oauth/token-keeper.ts";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import { formOf } from "../form-of.ts";

const before: Credentials = {
  serverName: "docs",
  serverUrl: "https://h/mcp",
  resource: "https://h/mcp",
  issuer: "https://issuer",
  client: { clientId: "c", clientSecret: "client-word" },
  endpoints: { token: "https://issuer/token" },
  tokens: {
    accessToken: "old-access",
    tokenType: "Bearer",
    obtainedAt: 1,
    refreshToken: "old-refresh",
    scope: "read",
    idToken: "old-id",
  },
};

interface Asked {
  readonly url: string;
  readonly init: RequestInit | undefined;
}

async function refreshing(
  answer: Response | Error,
  credentials = before,
): Promise<{ readonly outcome: RefreshOutcome; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    asked.push({ url: String(url), init });
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const outcome = await refreshTokens({ credentials, refreshToken: "old-refresh", fetch, now: () => 5_000 });
  return { outcome, asked };
}

const json = (body: object, status = 200): Response => Response.json(body, { status });

test("what an answer leaves out stays as it was", async () => {
  const { outcome } = await refreshing(json({ access_token: "new", token_type: "Bearer" }));
  expect(outcome).toMatchObject({
    kind: "renewed",
    credentials: {
      client: before.client,
      tokens: { accessToken: "new", obtainedAt: 5_000, refreshToken: "old-refresh", scope: "read", idToken: "old-id" },
    },
  });
});

test("what it brings replaces what was there", async () => {
  const body = { access_token: "new", token_type: "Bearer", refresh_token: "r2", scope: "write", id_token: "id2" };
  const { outcome } = await refreshing(json(body));
  expect(outcome).toMatchObject({
    credentials: { tokens: { refreshToken: "r2", scope: "write", idToken: "id2" } },
  });
});

test("it is asked for with the resource, and with audiences where there are some", async () => {
  const form = async (credentials: Credentials): Promise<object> => {
    const { asked } = await refreshing(json({}, 400), credentials);
    expect(asked[0]).toMatchObject({ url: "https://issuer/token", init: { method: "POST", redirect: "error" } });
    return formOf(asked[0]?.init);
  };
  const least = { grant_type: "refresh_token", refresh_token: "old-refresh", resource: "https://h/mcp" };
  expect(await form(before)).toEqual(least);
  expect(await form({ ...before, audiences: ["a", "b"] })).toEqual({ ...least, audience: "a b" });
});

test.each(["invalid_grant", "bad_refresh_token"])("%s: the refresh token is over, and nothing else", async (error) => {
  const { outcome } = await refreshing(json({ error }, 400));
  const { refreshToken: _, ...tokens } = before.tokens ?? {};
  expect(outcome).toEqual({ kind: "over", credentials: { ...before, tokens } });
});

test.each(["invalid_client", "unauthorized_client"])("%s: so is the client", async (error) => {
  const { outcome } = await refreshing(json({ error }, 400));
  const { refreshToken: _, ...tokens } = before.tokens ?? {};
  const client = { ...before.client, expiresAt: 5_000 };
  expect(outcome).toEqual({ kind: "over", credentials: { ...before, tokens, client } });
});

test("any other error is told, without what was sent", async () => {
  const error_description = "I dislike old-refresh, client-word and old-access";
  const { outcome } = await refreshing(json({ error: "invalid_scope", error_description }, 400));
  expect(outcome).toMatchObject({
    kind: "failed",
    error: {
      code: "auth_failed",
      message: 'token refresh for "docs" at https://issuer failed: it answered invalid_scope',
      evidence: "I dislike (hidden), (hidden) and (hidden)",
      serverName: "docs",
      next: "fairlead mcp auth docs",
    },
  });
});

test("who is busy, or not there, has decided nothing", async () => {
  const kept = "Try again later; the sign-in is kept.";
  expect((await refreshing(new Response("", { status: 503 }))).outcome).toMatchObject({
    kind: "failed",
    error: {
      code: "http_status",
      message: 'token refresh for "docs" failed: https://issuer answered HTTP 503',
      next: kept,
    },
  });
  expect((await refreshing(new Error("gone"))).outcome).toMatchObject({
    kind: "failed",
    error: {
      code: "unreachable",
      message: 'token refresh for "docs" failed: https://issuer cannot be reached: gone',
      next: "Check the network, then try again.",
    },
  });
  expect(notFinished(before, undefined)).toMatchObject({
    code: "unreachable",
    message: 'token refresh for "docs" timed out: another process still waits for https://issuer',
    serverName: "docs",
    next: kept,
  });
});

test("an answer without tokens that can be used, and an error without a description, are told without evidence", async () => {
  const told = async (answer: Response): Promise<unknown> => {
    const { outcome } = await refreshing(answer);
    return outcome.kind === "failed" && [outcome.error.code, outcome.error.message, outcome.error.evidence];
  };
  const failed = 'token refresh for "docs" at https://issuer failed:';
  expect(await told(new Response("<html>"))).toEqual([
    "auth_failed",
    `${failed} the response is not a JSON object`,
    undefined,
  ]);
  expect(await told(json({ error: "slow_down" }, 400))).toEqual([
    "auth_failed",
    `${failed} it answered slow_down`,
    undefined,
  ]);
});

test("nothing is made up that neither the answer nor the stored tokens have", async () => {
  const tokens = { accessToken: "old-access", tokenType: "Bearer", obtainedAt: 1 };
  const { outcome } = await refreshing(json({ access_token: "new", token_type: "Bearer" }), { ...before, tokens });
  const renewed = { accessToken: "new", tokenType: "Bearer", obtainedAt: 5_000 };
  expect(outcome).toEqual({ kind: "renewed", credentials: { ...before, tokens: renewed } });
  const { tokens: _, ...signedOut } = before;
  expect((await refreshing(json({ error: "invalid_grant" }, 400), signedOut)).outcome).toEqual({
    kind: "over",
    credentials: signedOut,
  });
});

test.each([
  ["DPoP", "renewed"],
  ["Bearer", "failed"],
])("if the server answers the refresh of a DPoP token with a %s token, the outcome is: %s", async (type, kind) => {
  const bound = { ...before, dpopKey: newDpopKey() };
  const { outcome, asked } = await refreshing(json({ access_token: "new", token_type: type }), bound);
  expect(outcome.kind).toBe(kind);
  expect(new Headers(asked[0]?.init?.headers).has("dpop")).toBe(true);
});
