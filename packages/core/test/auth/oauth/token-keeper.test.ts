import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createKeeper, type RenewalOutcome, type TokenKeeper } from "../../../src/auth/oauth/token-keeper.ts";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import { openTokenStorage, signInFolder } from "../../../src/auth/store/token-storage.ts";
import { HostError } from "../../../src/errors.ts";
import { type ManualClock, manualClock } from "../../support/manual-clock.ts";

const url = "https://docs.example/mcp";
const hour = 3_600_000;
const begin = 1_000_000;

function credentialsOf(accessToken: string, obtainedAt: number, expiresAt?: number): Credentials {
  return {
    serverName: "docs",
    serverUrl: url,
    resource: url,
    issuer: "https://login.example",
    client: { clientId: "id" },
    endpoints: { token: "https://login.example/token" },
    tokens: { accessToken, tokenType: "Bearer", obtainedAt, ...(expiresAt !== undefined && { expiresAt }) },
  };
}

interface Scene extends AsyncDisposable {
  readonly keeper: TokenKeeper;
  /** Whether each timer lets the process end. */
  readonly isBackground: readonly unknown[];
  readonly clock: ManualClock;
  readonly renewals: string[];
}

interface SceneOptions {
  readonly lifetime?: number;
  readonly random?: number;
  readonly canRenew?: boolean;
  readonly renew?: (credentials: Credentials, clock: ManualClock) => Promise<RenewalOutcome>;
}

/** A stored token "t0", which has just been obtained, and its keeper in a new process. */
async function keeping({ lifetime = hour, random = 0, canRenew = true, renew }: SceneOptions): Promise<Scene> {
  const folder = await temporaryFolder();
  const clock = manualClock();
  const now = () => begin + clock.now();
  const open = () => openTokenStorage({ state: folder.path, env: {}, platform: "linux" });
  const storage = open();
  const isBackground: unknown[] = [];
  const renewals: string[] = [];
  const keeper = createKeeper(
    {
      canRenew: () => canRenew,
      async renew(_name, credentials) {
        renewals.push(credentials.tokens?.accessToken ?? "");
        if (renew !== undefined) return renew(credentials, clock);
        const renewed = credentialsOf(`t${renewals.length}`, now(), now() + lifetime);
        await storage.saveCredentials(renewed);
        return { kind: "done", credentials: renewed };
      },
    },
    {
      storage,
      lockFolder: signInFolder(folder.path),
      clock: {
        ...clock,
        after(milliseconds, action, options) {
          isBackground.push(options?.background);
          return clock.after(milliseconds, action);
        },
      },
      now,
      random: () => random,
    },
  );
  await open().saveCredentials(credentialsOf("t0", begin, begin + lifetime));
  return { keeper, clock, renewals, isBackground, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const tokenIn = (credentials: Credentials | undefined) => credentials?.tokens?.accessToken;

test.each([
  ["a minute before the end", { random: 0 }, hour - 60_000],
  ["earlier by a random time of at most four minutes", { random: 1 }, hour - 300_000],
  ["after half of a short lifetime", { lifetime: 20_000 }, 10_000],
])("the keeper renews a token exactly %s", async (_, options, at) => {
  await using scene = await keeping(options);
  await scene.clock.pass(at - 1);
  expect([tokenIn(await scene.keeper.current(url)), scene.renewals]).toEqual(["t0", []]);
  await scene.clock.pass(1);
  expect([tokenIn(await scene.keeper.current(url)), scene.renewals]).toEqual(["t1", ["t0"]]);
  expect([scene.clock.pending(), scene.isBackground]).toEqual([0, [true]]);
});

test("the caller waits at most 2 s for a renewal while the token is valid, and gets the old token then", async () => {
  const answers: (() => void)[] = [];
  await using scene = await keeping({
    renew: async (credentials) => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return { kind: "done", credentials };
    },
  });
  await scene.clock.pass(hour - 1);
  const results: unknown[] = [];
  const asked = scene.keeper.current(url).then((credentials) => results.push(tokenIn(credentials)));
  while (answers.length === 0) await new Promise(setImmediate);
  await scene.clock.pass(1_999);
  expect(results).toEqual([]);
  await scene.clock.pass(1);
  await asked;
  expect(results).toEqual(["t0"]);
  answers[0]?.();
});

test("the caller waits for a renewal as long as it takes if the token has just ended", async () => {
  await using scene = await keeping({
    renew: async (_credentials, clock) => {
      await clock.pass(10_000);
      return { kind: "done", credentials: credentialsOf("late", clock.now()) };
    },
  });
  await scene.clock.pass(hour);
  expect(tokenIn(await scene.keeper.current(url))).toBe("late");
});

test("after a failed renewal, the caller gets the old token, and a refused token the error of the renewal", async () => {
  const error = new HostError("unreachable", "no route", { serverName: "docs" });
  await using scene = await keeping({ renew: async () => ({ kind: "failed", error }) });
  await scene.clock.pass(hour);
  expect(tokenIn(await scene.keeper.current(url))).toBe("t0");
  await expect(scene.keeper.refused(url, "t0")).rejects.toMatchObject({ message: "no route" });
  // During the pause after the failure, no further renewal begins. With chance 0, it lasts half a second.
  expect(scene.renewals).toEqual(["t0"]);
  await scene.clock.pass(499);
  await expect(scene.keeper.refused(url, "t0")).rejects.toMatchObject({ message: "no route" });
  expect(scene.renewals).toEqual(["t0"]);
  await scene.clock.pass(1);
  await expect(scene.keeper.refused(url, "t0")).rejects.toBe(error);
  expect(scene.renewals).toEqual(["t0", "t0"]);
});

test("a slow failure makes the keeper wait as long as it took", async () => {
  await using scene = await keeping({
    renew: async (_credentials, clock) => {
      await clock.pass(20_000);
      return { kind: "failed", error: new HostError("unreachable", "no route") };
    },
  });
  for (const wait of [0, 19_999]) {
    await scene.clock.pass(wait);
    await expect(scene.keeper.refused(url, "t0")).rejects.toThrow("no route");
  }
  expect(scene.renewals).toHaveLength(1);
  await scene.clock.pass(1);
  await expect(scene.keeper.refused(url, "t0")).rejects.toThrow("no route");
  expect(scene.renewals).toHaveLength(2);
});

test("a refused token that cannot be renewed leads to a sign-in, another stored token is used", async () => {
  await using scene = await keeping({ canRenew: false });
  expect(await scene.keeper.refused(url, "t0")).toBeUndefined();
  expect(tokenIn(await scene.keeper.refused(url, "older"))).toBe("t0");
  await scene.clock.pass(hour);
  expect(tokenIn(await scene.keeper.refused(url, "older"))).toBe("t0");
  expect(scene.renewals).toEqual([]);
});

test("callers with the same refused token share one renewal, and the next refusal begins another", async () => {
  await using scene = await keeping({});
  const both = await Promise.all([scene.keeper.refused(url, "t0"), scene.keeper.refused(url, "t0")]);
  expect([both.map(tokenIn), scene.renewals]).toEqual([["t1", "t1"], ["t0"]]);
  expect(tokenIn(await scene.keeper.refused(url, "t0"))).toBe("t1");
  expect(tokenIn(await scene.keeper.refused(url, "t1"))).toBe("t2");
  expect(scene.renewals).toEqual(["t0", "t1"]);
});

test("callers with the same refused token share even a result that is not stored", async () => {
  await using scene = await keeping({ renew: async () => ({ kind: "done", credentials: undefined }) });
  const both = await Promise.all([scene.keeper.refused(url, "t0"), scene.keeper.refused(url, "t0")]);
  expect([both, scene.renewals]).toEqual([[undefined, undefined], ["t0"]]);
});

test("after a success, the keeper waits only a short time after the next failure", async () => {
  const error = new HostError("unreachable", "no route");
  const outcomes: readonly RenewalOutcome[] = [
    { kind: "failed", error },
    { kind: "done", credentials: undefined },
    { kind: "failed", error },
    { kind: "done", credentials: undefined },
  ];
  let next = 0;
  await using scene = await keeping({ renew: async () => outcomes[next++] ?? { kind: "failed", error } });
  for (const _ of [1, 2]) {
    await expect(scene.keeper.refused(url, "t0")).rejects.toBe(error);
    await scene.clock.pass(500);
    expect(await scene.keeper.refused(url, "t0")).toBeUndefined();
  }
  expect(scene.renewals).toHaveLength(4);
});
