import { temporaryFolder } from "@fairlead/test-servers";
import type { AuthHook, Challenge } from "@fairlead/wire";
import { expect, test } from "vitest";
import { createAuthHook } from "../../src/auth/auth-hook.ts";
import type { ServerAuth } from "../../src/auth/sign-in-need.ts";
import type { Credentials } from "../../src/auth/store/credentials.ts";
import { createDeadline } from "../../src/connect/connect-timeout.ts";
import { watchAuth } from "../../src/connect/watched-auth.ts";
import { both } from "../auth/both-servers.ts";
import { person } from "../auth/person.ts";
import { signingIn } from "../auth/signing-in.ts";
import { manualClock } from "../support/manual-clock.ts";
import { connection } from "./connection.ts";

const refusal: Challenge = {
  status: 401,
  url: "https://h/mcp",
  wwwAuthenticate: "Bearer",
  headers: {},
  sent: {},
  attempt: 0,
};
const { signal } = new AbortController();
const request = { url: "https://h/mcp", method: "POST" };
const { signal: never } = new AbortController();
const noDeadline = createDeadline(never, 1000);

/** Sends these tokens, one a request. */
function sending(...tokens: readonly string[]): ServerAuth {
  const left = [...tokens];
  return { headers: async () => ({ authorization: `Bearer ${left.shift()}` }), challenged: async () => false };
}

/** A person who is done when the test says so. */
function busyPerson() {
  const done: ((isSignedIn: boolean) => void)[] = [];
  const challenged: AuthHook["challenged"] = () => new Promise((resolve) => done.push(resolve));
  return { hook: { headers: async () => ({}), challenged }, done };
}

test("what was sent is hidden, without the word before it, and requests get it unchanged", async () => {
  const { hook, redact } = watchAuth(sending("first-secret-token", "second-secret-token"), noDeadline);
  expect(redact("first-secret-token")).toBe("first-secret-token");
  expect(await hook.headers(request)).toEqual({ authorization: "Bearer first-secret-token" });
  await hook.headers(request);
  const hidden = redact("Bearer first-secret-token, then second-secret-token");
  expect(hidden).toMatch(/^Bearer .*, then /);
  expect(hidden).not.toMatch(/first-secret|second-secret/);
});

test("the last eight are remembered", async () => {
  const tokens = Array.from({ length: 9 }, (_, index) => `secret-token-number-${index}`);
  const { hook, redact } = watchAuth(sending(...tokens), noDeadline);
  for (const _ of tokens) await hook.headers(request);
  expect(tokens.map((token) => redact(token) === token)).toEqual([true, ...Array(8).fill(false)]);
});

test("the time of a sign-in is counted once, however many requests wait for it", async () => {
  const clock = manualClock();
  const { hook: given, done } = busyPerson();
  const time = createDeadline(never, 1000, clock);
  const { hook } = watchAuth(given, time);
  expect([time.isUnderWay(), time.total()]).toEqual([false, 0]);
  const first = hook.challenged(refusal, signal);
  await clock.pass(1000);
  const second = hook.challenged(refusal, signal);
  await clock.pass(1000);
  done[0]?.(true);
  expect(await first).toBe(true);
  expect([time.isUnderWay(), time.total()]).toEqual([true, 0]);
  await clock.pass(1000);
  done[1]?.(false);
  expect(await second).toBe(false);
  await clock.pass(1000);
  expect([time.isUnderWay(), time.total()]).toEqual([false, 3000]);
  const third = hook.challenged(refusal, signal);
  await clock.pass(500);
  done[2]?.(true);
  await third;
  expect(time.total()).toBe(3500);
});

test("the deadline is held until the sign-in is over, also when it fails", async () => {
  const told: unknown[] = [];
  const deadline = createDeadline(never, 1000);
  const failing: ServerAuth = {
    headers: async () => ({}),
    challenged() {
      told.push(deadline.isUnderWay());
      return Promise.reject(new Error("no"));
    },
  };
  const { hook } = watchAuth(failing, deadline);
  await expect(hook.challenged(refusal, signal)).rejects.toThrow("no");
  expect(told).toEqual([true]);
  expect(deadline.isUnderWay()).toBe(false);
});

test("that a server has accepted is told only if something was sent", async () => {
  const told: string[] = [];
  const counting = (hook: ServerAuth) => ({ ...hook, accepted: async () => void told.push("accepted") });
  await watchAuth(counting({ headers: async () => ({}), challenged: async () => false }), noDeadline).accepted();
  expect(told).toEqual([]);
  const watched = watchAuth(counting(sending("secret-token")), noDeadline);
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
  const { signIn } = await server.open();
  expect(signIn?.total()).toBe(100_000);
});
