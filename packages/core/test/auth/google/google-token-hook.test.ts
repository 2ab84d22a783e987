import { expect, test } from "vitest";
import { createGoogleTokenHook, type GoogleHeaders } from "../../../src/auth/google/google.ts";
import { headersOf, refusal, serverUrl } from "./google-scene.ts";

/**
 * A hook whose n-th token is "token n", unless `state.token` says otherwise. Each token is valid for `life`
 * milliseconds. The clock shows `start`.
 */
function hookWith(life: number, start = 0) {
  const state = {
    now: start,
    asked: 0,
    error: undefined as Error | undefined,
    token: (count: number) => `token ${count}`,
  };
  const hook = createGoogleTokenHook({
    serverName: "cloud",
    serverUrl,
    now: () => state.now,
    async ask(): Promise<GoogleHeaders> {
      state.asked += 1;
      if (state.error) throw state.error;
      return { headers: { authorization: state.token(state.asked) }, expiresAt: state.now + life };
    },
  });
  const tokenAt = async (now: number) => {
    state.now = now;
    return (await headersOf(hook))["authorization"];
  };
  return { hook, state, tokenAt };
}

test.each([
  ["five minutes before it expires", 1_000_000, 0, 700_000],
  ["after half of a short life", 100_000, 1_000, 51_000],
  ["after half of a life of ten minutes", 600_000, 0, 300_000],
])("a token is renewed %s", async (_, life, start, renewal) => {
  const { tokenAt } = hookWith(life, start);
  expect([await tokenAt(start), await tokenAt(renewal - 1), await tokenAt(renewal)]).toEqual([
    "token 1",
    "token 1",
    "token 2",
  ]);
});

test("if Google does not renew a token, the client uses it until it expires, and asks again each time", async () => {
  const { state, tokenAt } = hookWith(1_000_000);
  await tokenAt(0);
  state.error = new Error("Google is away");
  expect([await tokenAt(700_000), await tokenAt(999_999), state.asked]).toEqual(["token 1", "token 1", 3]);
  await expect(tokenAt(1_000_000)).rejects.toThrow("Google is away");
  state.error = undefined;
  expect(await tokenAt(1_000_001)).toBe("token 5");
});

test("requests at the same time share one request to Google", async () => {
  const { hook, state } = hookWith(1_000_000);
  const both = await Promise.all([headersOf(hook), headersOf(hook)]);
  expect([both, state.asked]).toEqual([[{ authorization: "token 1" }, { authorization: "token 1" }], 1]);
});

test("a request to another origin gets no token, and the client asks Google for none", async () => {
  const { hook, state } = hookWith(1_000_000);
  const { hostname } = new URL(serverUrl);
  for (const url of ["https://other.example/mcp", `http://${hostname}/mcp`, `https://${hostname}:444/mcp`])
    expect(await headersOf(hook, url)).toEqual({});
  expect(state.asked).toBe(0);
  expect(await headersOf(hook, `https://${hostname}/other`)).toEqual({ authorization: "token 1" });
});

const { signal } = new AbortController();
const rejected = {
  code: "auth_failed",
  serverName: "cloud",
  message: '"cloud" rejected the Google token',
  next: "Ask the server's operator to allow the account of your Google credentials.",
};

test("a token that the server refuses with 401 is renewed once; a second refusal is an error", async () => {
  const { hook, state } = hookWith(1_000_000);
  const sent = await headersOf(hook);
  expect(await hook.challenged(refusal(sent, 0, 403), signal)).toBe(false);
  expect(state.asked).toBe(1);
  expect(await hook.challenged(refusal(sent), signal)).toBe(true);
  expect(state.asked).toBe(2);
  // The hook has a newer token than these requests sent, so they are repeated without another request to Google.
  expect([await hook.challenged(refusal(sent, 0), signal), await hook.challenged(refusal(sent, 1), signal)]).toEqual([
    true,
    true,
  ]);
  await expect(hook.challenged(refusal(await headersOf(hook), 1), signal)).rejects.toMatchObject(rejected);
  expect(state.asked).toBe(2);
});

test("if Google gives the refused token again, the user reads that the server rejected it", async () => {
  const { hook, state } = hookWith(1_000_000);
  state.token = () => "same";
  await expect(hook.challenged(refusal(await headersOf(hook)), signal)).rejects.toMatchObject(rejected);
  expect(state.asked).toBe(2);
});

test("a refusal before the first token makes the client ask Google for one", async () => {
  const { hook, state } = hookWith(1_000_000);
  expect([await hook.challenged(refusal({}), signal), state.asked]).toEqual([true, 1]);
});
