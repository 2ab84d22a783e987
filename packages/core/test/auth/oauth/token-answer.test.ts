import { describe, expect, test } from "vitest";
import { readTokenAnswer } from "../../../src/auth/oauth/token-request.ts";

const askedAt = 1_000_000;
const good = { access_token: "a", token_type: "Bearer" };
const tokens = { accessToken: "a", tokenType: "Bearer", obtainedAt: askedAt };

function answer(body: unknown, status = 200, type = "application/json"): Promise<unknown> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = new Response(text, { status, headers: { "content-type": type } });
  return readTokenAnswer(response, { askedAt, tokenType: "Bearer" });
}

test("everything that is meant for us is kept, nothing else", async () => {
  const body = {
    ...good,
    refresh_token: "r",
    scope: "read",
    id_token: "i",
    expires_in: 60,
    extra: "x",
    __proto__: { error: "x" },
  };
  expect(await answer(body)).toEqual({
    kind: "tokens",
    tokens: { ...tokens, refreshToken: "r", scope: "read", idToken: "i", expiresAt: askedAt + 60_000 },
  });
});

test("a form is understood too", async () => {
  const type = "application/x-www-form-urlencoded; charset=utf-8";
  expect(await answer("access_token=a&token_type=bearer&expires_in=60", 200, type)).toEqual({
    kind: "tokens",
    tokens: { ...tokens, expiresAt: askedAt + 60_000 },
  });
});

test.each<[said: unknown, expiresAt: number | undefined]>([
  [60, askedAt + 60_000],
  ["60", askedAt + 60_000],
  [0, undefined],
  [0.5, askedAt + 500],
  [undefined, undefined],
  [null, undefined],
  [-1, undefined],
  ["soon", undefined],
  [[60], undefined],
  [1e300, askedAt + 10 * 365 * 24 * 3_600_000],
])("expires_in: %j", async (said, expiresAt) => {
  expect(await answer({ ...good, expires_in: said })).toEqual({
    kind: "tokens",
    tokens: { ...tokens, ...(expiresAt !== undefined && { expiresAt }) },
  });
});

describe("what is of no use", () => {
  test.each<[body: unknown, status: number, reason: string]>([
    ["<html>", 200, "the response is not a JSON object"],
    ["[]", 200, "the response is not a JSON object"],
    ["", 200, "the response is not a JSON object"],
    ["", 404, "the token endpoint answered HTTP 404"],
    [good, 302, "the token endpoint answered HTTP 302"],
    [{ access_token: "a" }, 200, "the token_type is missing; it must be Bearer"],
    [{ ...good, token_type: "mac" }, 200, 'the token_type is "mac"; it must be Bearer'],
    [{ token_type: "Bearer" }, 200, "the response has no access_token"],
    [{ ...good, access_token: 1 }, 200, "the response has no access_token"],
    [{ ...good, access_token: "a\r\nx: y" }, 200, "a token is longer than 16000 characters or not ASCII"],
    [{ ...good, access_token: "é" }, 200, "a token is longer than 16000 characters or not ASCII"],
    [{ ...good, access_token: "a".repeat(16_001) }, 200, "a token is longer than 16000 characters or not ASCII"],
    [{ ...good, refresh_token: "r r" }, 200, "a token is longer than 16000 characters or not ASCII"],
  ])("%j with %i", async (body, status, reason) => {
    expect(await answer(body, status)).toEqual({ kind: "unusable", reason });
  });

  test.each([500, 503, 429, 408])("%i: another time, whatever it says", async (status) => {
    expect(await answer({ error: "invalid_grant" }, status)).toEqual({ kind: "unavailable", status });
  });

  test.each([400, 401, 200])("an error with %i is an error", async (status) => {
    const body = { ...good, error: "e".repeat(500), error_description: "d".repeat(5000) };
    expect(await answer(body, status)).toEqual({
      kind: "error",
      error: "e".repeat(100),
      description: "d".repeat(1000),
    });
  });
});

test("the longest tokens there may be fit; a longer ID token is left out", async () => {
  const token = "t".repeat(16_000);
  const body = { ...good, access_token: token, refresh_token: token, id_token: `${token}x` };
  expect(await answer(body)).toEqual({
    kind: "tokens",
    tokens: { ...tokens, accessToken: token, refreshToken: token },
  });
});
