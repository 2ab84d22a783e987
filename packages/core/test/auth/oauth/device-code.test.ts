import { expect, test } from "vitest";
import type { SignInMessage } from "../../../src/auth/browser/sign-in-ui.ts";
import { type DeviceOptions, signInByDevice } from "../../../src/auth/oauth/device.ts";
import { createFail } from "../../../src/auth/oauth/failure.ts";

const issuer = "https://login.example";
const code = {
  device_code: "d",
  user_code: "AB",
  verification_uri: `${issuer}/activate`,
  expires_in: 600,
  interval: 7,
};

/** Signs in at a stand-in of the authorization server. The time passes as soon as the client waits. */
async function signIn(answer: object | string, more: Partial<DeviceOptions> = {}) {
  const shown: SignInMessage[] = [];
  const forms: unknown[] = [];
  let now = 0;
  const tokens = await signInByDevice({
    plan: {
      resource: "https://docs.example/mcp",
      issuer,
      isIssuerKnown: true,
      endpoints: { token: `${issuer}/token`, device: `${issuer}/device` },
      metadata: undefined,
      scopes: [],
      isLegacyFallback: false,
      isDpop: false,
      isGuess: false,
    },
    client: { clientId: "id" },
    audiences: [],
    scopes: [],
    post: async (url, init) => {
      forms.push(Object.fromEntries(new URLSearchParams(typeof init?.body === "string" ? init.body : "")));
      if (String(url) === `${issuer}/token`) return Response.json({ access_token: "a", token_type: "Bearer" });
      return new Response(typeof answer === "string" ? answer : JSON.stringify(answer));
    },
    now: () => 0,
    fail: createFail("docs"),
    dpop: undefined,
    serverName: "docs",
    clock: {
      now: () => now,
      after(milliseconds, action) {
        const waiting = setImmediate(() => {
          now += milliseconds;
          action();
        });
        return () => clearImmediate(waiting);
      },
    },
    show: (message) => shown.push(message),
    signal: new AbortController().signal,
    ...more,
  });
  return { tokens, shown, forms, waited: now };
}

test("the client shows the code, waits as the server asks, and requests the token with the device's code", async () => {
  const { tokens, shown, forms, waited } = await signIn(code);
  expect(tokens).toEqual({ accessToken: "a", tokenType: "Bearer", obtainedAt: 0 });
  const verificationUri = `${issuer}/activate`;
  expect(shown).toEqual([{ kind: "device", serverName: "docs", issuer, userCode: "AB", verificationUri, minutes: 10 }]);
  expect(forms).toEqual([
    { client_id: "id", resource: "https://docs.example/mcp" },
    {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: "d",
      resource: "https://docs.example/mcp",
      client_id: "id",
    },
  ]);
  expect(waited).toBe(7_000);
});

test("the client asks for the scopes and audiences that the user wants", async () => {
  const { forms } = await signIn(code, { scopes: ["a", "b"], audiences: ["x", "y"] });
  expect(forms[0]).toMatchObject({ scope: "a b", audience: "x y" });
});

test.each([
  [{ expires_in: 61, interval: 1 }, 2, 1_000],
  [{ expires_in: 1_801, interval: 61 }, 30, 60_000],
  [{ expires_in: 0, interval: 0 }, 30, 5_000],
  [{ expires_in: -1, interval: -1 }, 30, 5_000],
  [{ expires_in: "60", interval: "1" }, 30, 5_000],
  [{ expires_in: undefined, interval: undefined }, 30, 5_000],
])("with %j, the code is valid for %d minutes, and the client waits %d ms", async (times, minutes, waited) => {
  const outcome = await signIn({ ...code, ...times });
  expect(outcome.shown).toMatchObject([{ minutes }]);
  expect(outcome.waited).toBe(waited);
});

test("a code with 64 characters is short enough for the user", async () => {
  const { shown } = await signIn({ ...code, user_code: "A".repeat(64) });
  expect(shown).toMatchObject([{ userCode: "A".repeat(64) }]);
});

test("a server may call the address verification_url", async () => {
  const { verification_uri: verification_url, ...rest } = code;
  const { shown } = await signIn({ ...rest, verification_url });
  expect(shown).toMatchObject([{ verificationUri: `${issuer}/activate` }]);
});

test("an answer that is not JSON has no device code", async () => {
  await expect(signIn("busy")).rejects.toThrow(
    `sign-in to "docs" failed at the device code step: ${issuer}/device answered 200 without a device code`,
  );
});
