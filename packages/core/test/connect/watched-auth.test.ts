import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createAuthHook, type ServerAuth } from "../../src/auth/auth-hook.ts";
import type { Credentials } from "../../src/auth/store/credentials.ts";
import { watchAuth } from "../../src/connect/watched-auth.ts";
import { both } from "../auth/both-servers.ts";
import { person } from "../auth/person.ts";
import { signingIn } from "../auth/signing-in.ts";
import { manualClock } from "../support/manual-clock.ts";
import { connection } from "./connection.ts";

const request = { url: "https://h/mcp", method: "POST" };

/** Sends these tokens, one a request. */
function sending(...tokens: readonly string[]): ServerAuth {
  const left = [...tokens];
  return { headers: async () => ({ authorization: `Bearer ${left.shift()}` }), challenged: async () => false };
}

test("what was sent is hidden, without the word before it, and requests get it unchanged", async () => {
  const { hook, redact } = watchAuth(sending("first-secret-token", "second-secret-token"));
  expect(redact("first-secret-token")).toBe("first-secret-token");
  expect(await hook.headers(request)).toEqual({ authorization: "Bearer first-secret-token" });
  await hook.headers(request);
  const hidden = redact("Bearer first-secret-token, then second-secret-token");
  expect(hidden).toMatch(/^Bearer .*, then /);
  expect(hidden).not.toMatch(/first-secret|second-secret/);
});

test("the last eight are remembered", async () => {
  const tokens = Array.from({ length: 9 }, (_, index) => `secret-token-number-${index}`);
  const { hook, redact } = watchAuth(sending(...tokens));
  for (const _ of tokens) await hook.headers(request);
  expect(tokens.map((token) => redact(token) === token)).toEqual([true, ...Array(8).fill(false)]);
});

test("that a server has accepted is told only if something was sent", async () => {
  const told: string[] = [];
  const counting = (hook: ServerAuth) => ({ ...hook, accepted: async () => void told.push("accepted") });
  await watchAuth(counting({ headers: async () => ({}), challenged: async () => false })).accepted();
  expect(told).toEqual([]);
  const watched = watchAuth(counting(sending("secret-token")));
  await watched.hook.headers(request);
  await watched.accepted();
  expect(told).toEqual(["accepted"]);
});

test("a person who takes longer than a server may is waited for", async () => {
  await using servers = await both();
  await using folder = await temporaryFolder();
  const { url: serverUrl } = servers.guarded;
  const clock = manualClock();
  let stored: Credentials | undefined;
  const hook = createAuthHook({
    serverName: "s",
    serverUrl,
    hasCredentials: async () => stored !== undefined,
    keeper: async () => ({ current: async () => stored, refused: async () => undefined }),
    async signIn() {
      await clock.pass(100_000);
      stored = await signingIn(serverUrl, person(), folder);
      return stored;
    },
  });
  await using server = await connection(
    { httpUrl: serverUrl },
    { clock, connectTimeout: 30_000, auth: async () => hook },
  );
  const { timeoutClock } = await server.open();
  expect(timeoutClock?.pausedFor).toBe(100_000);
});
