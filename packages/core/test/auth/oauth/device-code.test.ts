import { expect, test } from "vitest";
import type { SignInMessage } from "../../../src/auth/browser/sign-in-ui.ts";
import { type DeviceOptions, signInByDevice } from "../../../src/auth/oauth/device.ts";
import { createFail } from "../../../src/auth/oauth/failure.ts";
import { instantClock } from "../../support/instant-clock.ts";
import { formOf } from "../form-of.ts";

const issuer = "https://login.example";
const code = {
  device_code: "d",
  user_code: "AB",
  verification_uri: `${issuer}/activate`,
  expires_in: 600,
  interval: 7,
};

/**
 * Signs in at a stand-in of the authorization server, which answers the request for a device code with `answer`.
 * `waited`: the milliseconds that the client waited.
 */
async function signIn(answer: object | string, more: Partial<DeviceOptions> = {}) {
  const shown: SignInMessage[] = [];
  const forms: unknown[] = [];
  const clock = instantClock();
  const tokens = await signInByDevice({
    plan: {
      resource: "https://docs.example/mcp",
      server: { issuer, token_endpoint: `${issuer}/token`, device_authorization_endpoint: `${issuer}/device` },
      isIssuerKnown: true,
      scopes: [],
      mustListPkce: false,
      isDpop: false,
      isGuess: false,
    },
    client: { clientId: "id" },
    audiences: [],
    scopes: [],
    post: async (url, init) => {
      forms.push(formOf(init));
      if (String(url) === `${issuer}/token`) return Response.json({ access_token: "a", token_type: "Bearer" });
      return new Response(typeof answer === "string" ? answer : JSON.stringify(answer));
    },
    now: () => 0,
    fail: createFail("docs"),
    dpop: undefined,
    serverName: "docs",
    clock,
    show: (message) => shown.push(message),
    signal: new AbortController().signal,
    ...more,
  });
  return { tokens, shown, forms, waited: clock.now() };
}

test("the client shows the user code, waits for the server's interval, and requests the token with the device code", async () => {
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

test("the client sends the scopes and audiences with the request for a device code", async () => {
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
])(
  "if the server answers with %j, the user reads that the code is valid for %d minutes, and the client waits %d ms",
  async (times, minutes, waited) => {
    const outcome = await signIn({ ...code, ...times });
    expect(outcome.shown).toMatchObject([{ minutes }]);
    expect(outcome.waited).toBe(waited);
  },
);

test("the client shows a user code of 64 characters, which is the longest it accepts", async () => {
  const { shown } = await signIn({ ...code, user_code: "A".repeat(64) });
  expect(shown).toMatchObject([{ userCode: "A".repeat(64) }]);
});

test("the client also finds the address under the name verification_url", async () => {
  const { verification_uri: verification_url, ...rest } = code;
  const { shown } = await signIn({ ...rest, verification_url });
  expect(shown).toMatchObject([{ verificationUri: `${issuer}/activate` }]);
});

test("a sign-in fails if the server answers the request for a device code with text that is not JSON", async () => {
  await expect(signIn("busy")).rejects.toThrow(
    `sign-in to "docs" failed at the device code step: ${issuer}/device answered 200 without a device code`,
  );
});
