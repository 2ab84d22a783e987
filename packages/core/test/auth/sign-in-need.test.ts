import type { Challenge } from "@fairlead/wire";
import { expect, test } from "vitest";
import { recordSignInNeed } from "../../src/auth/sign-in-need.ts";
import { type ErrorCode, HostError } from "../../src/errors.ts";

const { signal } = new AbortController();

interface Case {
  readonly outcome: boolean | Error;
  readonly status?: 401 | 403;
  readonly sent?: string;
  readonly isForced?: boolean;
}

/** What is noted after a refusal that ends so. */
async function noted({ outcome, status = 401, sent, isForced = false }: Case): Promise<readonly string[]> {
  const notes: string[] = [];
  const hook = recordSignInNeed(
    {
      headers: async () => ({}),
      challenged: () => (outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome)),
    },
    {
      want: async (refused) => void notes.push(`want ${refused}`),
      forget: async () => void notes.push("forget"),
      isForced,
    },
  );
  const headers: Record<string, string> = sent === undefined ? {} : { authorization: `Bearer ${sent}` };
  const challenge: Challenge = {
    status,
    url: "https://h/",
    wwwAuthenticate: "",
    headers: {},
    sent: headers,
    attempt: 0,
  };
  const ended = await hook.challenged(challenge, signal).catch((error: unknown) => error);
  expect(ended).toBe(outcome);
  return notes;
}

const failed = (code: ErrorCode): HostError => new HostError(code, "no");

test.each<[string, Case, readonly string[]]>([
  ["who has signed in wants nothing", { outcome: true }, ["forget"]],
  ["also after a step up", { outcome: true, status: 403 }, ["forget"]],
  ["the user could not be asked", { outcome: false }, ["want undefined"]],
  ["the token that was refused is noted", { outcome: false, sent: "t" }, ["want t"]],
  ["who is let in, but not everywhere, has signed in", { outcome: false, status: 403, sent: "t" }, []],
  ["who signs in again by their own wish wants nothing", { outcome: false, isForced: true }, []],
  ["a sign-in that failed", { outcome: failed("auth_failed") }, ["want undefined"]],
  ["one that was called off", { outcome: failed("cancelled") }, []],
  ["a token that could not be renewed for now", { outcome: failed("unreachable"), sent: "t" }, []],
  ["a token that never will be", { outcome: failed("auth_required"), sent: "t" }, ["want t"]],
  ["a step up that failed", { outcome: failed("auth_required"), status: 403, sent: "t" }, []],
  ["a failure of a forced one", { outcome: failed("auth_failed"), isForced: true }, []],
  ["what is no failure of a sign-in", { outcome: new Error("bug") }, []],
])("%s", async (_, happened, notes) => {
  expect(await noted(happened)).toEqual(notes);
});

test("a note that cannot be written blocks no request, and an accepted token is no wish any more", async () => {
  const full = (): Promise<never> => Promise.reject(new Error("disk full"));
  const headers = { authorization: "Bearer t" };
  const hook = recordSignInNeed(
    { headers: async () => headers, challenged: async () => false },
    { want: full, forget: full, isForced: false },
  );
  const challenge = { status: 401, url: "https://h/", wwwAuthenticate: "", headers: {}, sent: {}, attempt: 0 } as const;
  expect(await hook.challenged(challenge, signal)).toBe(false);
  expect(await hook.headers({ url: "https://h/", method: "GET" })).toBe(headers);
  await hook.accepted?.();
  let forgotten = 0;
  const forget = async (): Promise<void> => {
    forgotten += 1;
  };
  await recordSignInNeed(hook, { want: full, forget, isForced: false }).accepted?.();
  expect(forgotten).toBe(1);
});
