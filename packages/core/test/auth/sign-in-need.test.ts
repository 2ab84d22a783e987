import type { Challenge } from "@fairlead/wire";
import { expect, test } from "vitest";
import { type AuthHookOptions, createAuthHook, type ServerAuth } from "../../src/auth/auth-hook.ts";
import type { Credentials } from "../../src/auth/store/credentials.ts";
import { type ErrorCode, HostError } from "../../src/errors.ts";

const { signal } = new AbortController();
const serverUrl = "https://h/";
const credentials: Credentials = {
  serverName: "s",
  serverUrl,
  resource: serverUrl,
  issuer: "https://as",
  client: { clientId: "c" },
  endpoints: { token: "https://as/token" },
};

interface Case {
  readonly status?: 401 | 403;
  readonly wwwAuthenticate?: string;
  readonly sent?: string;
  readonly isForced?: boolean;
  /** How a sign-in ends. Absent if the person cannot be asked. */
  readonly signIn?: "done" | Error;
  /** How a renewal of the token fails. */
  readonly renewal?: Error;
}

function hookOf(given: Case, need: NonNullable<AuthHookOptions["need"]>): ServerAuth {
  const { signIn, renewal, isForced } = given;
  return createAuthHook({
    serverName: "s",
    serverUrl,
    hasCredentials: async () => true,
    keeper: async () => ({
      current: async () => credentials,
      refused: () => (renewal === undefined ? Promise.resolve(undefined) : Promise.reject(renewal)),
    }),
    signIn: signIn && (async () => (signIn === "done" ? credentials : Promise.reject(signIn))),
    isForced,
    need,
  });
}

function challengeOf({ status = 401, wwwAuthenticate = "", sent }: Case): Challenge {
  const headers: Record<string, string> = sent === undefined ? {} : { authorization: `Bearer ${sent}` };
  return { status, url: serverUrl, wwwAuthenticate, headers: {}, sent: headers, attempt: 0 };
}

/** What is noted after a refusal, and how it ended. */
async function noted(given: Case): Promise<readonly unknown[]> {
  const notes: string[] = [];
  const hook = hookOf(given, {
    want: async (refused) => void notes.push(`want ${refused}`),
    forget: async () => void notes.push("forget"),
  });
  const codeOf = (error: unknown): unknown => (error instanceof HostError ? error.code : error);
  const ended = await hook.challenged(challengeOf(given), signal).catch(codeOf);
  return [ended, ...notes];
}

const failed = (code: ErrorCode): HostError => new HostError(code, "no");
const missing = 'Bearer error="insufficient_scope", scope="write"';
const bug = new Error("bug");

test.each<[string, Case, readonly unknown[]]>([
  ["who has signed in wants nothing", { signIn: "done" }, [true, "forget"]],
  ["also after a step up", { signIn: "done", status: 403, wwwAuthenticate: missing }, [true, "forget"]],
  ["the user could not be asked", {}, [false, "want undefined"]],
  ["the token that was refused is noted", { sent: "t" }, [false, "want t"]],
  ["who is let in, but not everywhere, has signed in", { status: 403, sent: "t" }, [false]],
  ["who signs in again by their own wish wants nothing", { isForced: true }, [false]],
  ["a sign-in that failed", { signIn: failed("auth_failed") }, ["auth_failed", "want undefined"]],
  ["one that was called off", { signIn: failed("cancelled") }, ["cancelled"]],
  ["a token that could not be renewed for now", { renewal: failed("unreachable"), sent: "t" }, ["unreachable"]],
  ["a token that never will be", { renewal: failed("auth_required"), sent: "t" }, ["auth_required", "want t"]],
  ["a step up without a person", { status: 403, wwwAuthenticate: missing, sent: "t" }, ["auth_required"]],
  ["a failure of a forced one", { signIn: failed("auth_failed"), isForced: true }, ["auth_failed"]],
  ["what is no failure of a sign-in", { signIn: bug }, [bug]],
])("%s", async (_, happened, expected) => {
  expect(await noted(happened)).toEqual(expected);
});

test("a note that cannot be written blocks no request, and an accepted token is no wish any more", async () => {
  const full = (): Promise<never> => Promise.reject(new Error("disk full"));
  const hook = hookOf({}, { want: full, forget: full });
  expect(await hook.challenged(challengeOf({}), signal)).toBe(false);
  await hook.accepted?.();
  let forgotten = 0;
  const forget = async (): Promise<void> => {
    forgotten += 1;
  };
  await hookOf({}, { want: full, forget }).accepted?.();
  expect(forgotten).toBe(1);
});
