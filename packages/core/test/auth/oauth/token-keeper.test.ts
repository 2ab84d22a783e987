import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createKeeper, type RenewalOutcome, type TokenKeeper } from "../../../src/auth/oauth/token-keeper.ts";
import type { Credentials } from "../../../src/auth/store/credentials.ts";
import { openTokenStorage, signInFolder } from "../../../src/auth/store/token-storage.ts";
import { HostError } from "../../../src/errors.ts";
import { type ManualClock, manualClock } from "../../support/manual-clock.ts";
import { tokenOf } from "../keeper-scene.ts";

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
  /** The option `background` of each timer. A timer with `true` does not keep the process alive. */
  readonly isBackground: readonly unknown[];
  readonly clock: ManualClock;
  /** The access tokens that were renewed. */
  readonly renewals: string[];
}

interface SceneOptions {
  readonly lifetime?: number;
  readonly random?: number;
  readonly canRenew?: boolean;
  readonly renew?: (credentials: Credentials, clock: ManualClock) => Promise<RenewalOutcome>;
}

/**
 * A keeper, and the stored token "t0", which was obtained at `begin` by another process. A renewal gives "t1", "t2" and
 * so on, unless `renew` says otherwise.
 */
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

test.each([
  ["a minute before its end", { random: 0 }, hour - 60_000],
  ["up to four minutes earlier, by a random time", { random: 1 }, hour - 300_000],
  ["after half of its lifetime if that is short", { lifetime: 20_000 }, 10_000],
])("the keeper renews a token %s", async (_, options, at) => {
  await using scene = await keeping(options);
  await scene.clock.pass(at - 1);
  expect([tokenOf(await scene.keeper.current(url)), scene.renewals]).toEqual(["t0", []]);
  await scene.clock.pass(1);
  expect([tokenOf(await scene.keeper.current(url)), scene.renewals]).toEqual(["t1", ["t0"]]);
  // The keeper set one timer, which limits the caller's wait, and has cancelled it.
  expect([scene.clock.pending(), scene.isBackground]).toEqual([0, [true]]);
});

test("while the token is valid, the caller waits at most 2 s for a renewal, and then gets the old token", async () => {
  let [onRenewal, finish] = [() => {}, () => {}];
  const begun = new Promise<void>((resolve) => {
    onRenewal = resolve;
  });
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  await using scene = await keeping({
    renew: async (credentials) => {
      onRenewal();
      await finished;
      return { kind: "done", credentials };
    },
  });
  await scene.clock.pass(hour - 1);
  const results: unknown[] = [];
  const asked = scene.keeper.current(url).then((credentials) => results.push(tokenOf(credentials)));
  await begun;
  await scene.clock.pass(1_999);
  expect(results).toEqual([]);
  await scene.clock.pass(1);
  await asked;
  expect(results).toEqual(["t0"]);
  // The renewal holds a lock in the folder: the test ends after it.
  const renewed = scene.keeper.refused(url, "t0");
  finish();
  await renewed;
});

test("once the token has expired, the caller waits for a renewal as long as it takes", async () => {
  await using scene = await keeping({
    renew: async (_credentials, clock) => {
      await clock.pass(10_000);
      return { kind: "done", credentials: credentialsOf("late", clock.now()) };
    },
  });
  await scene.clock.pass(hour);
  expect(tokenOf(await scene.keeper.current(url))).toBe("late");
});

test("after a failed renewal, the caller gets the old token; if the server refuses it, the caller gets the error until the pause ends", async () => {
  const error = new HostError("unreachable", "no route", { serverName: "docs" });
  await using scene = await keeping({ renew: async () => ({ kind: "failed", error }) });
  await scene.clock.pass(hour);
  expect(tokenOf(await scene.keeper.current(url))).toBe("t0");
  await expect(scene.keeper.refused(url, "t0")).rejects.toMatchObject({ message: "no route" });
  // During the pause after the failure, no renewal begins. With `random` 0, the pause lasts half a second.
  expect(scene.renewals).toEqual(["t0"]);
  await scene.clock.pass(499);
  await expect(scene.keeper.refused(url, "t0")).rejects.toMatchObject({ message: "no route" });
  expect(scene.renewals).toEqual(["t0"]);
  await scene.clock.pass(1);
  await expect(scene.keeper.refused(url, "t0")).rejects.toBe(error);
  expect(scene.renewals).toEqual(["t0", "t0"]);
});

test("after a renewal that failed slowly, the keeper waits as long as the renewal took", async () => {
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

test("if a refused token cannot be renewed, the user must sign in; instead of an older token, the keeper returns the stored one", async () => {
  await using scene = await keeping({ canRenew: false });
  expect(await scene.keeper.refused(url, "t0")).toBeUndefined();
  expect(tokenOf(await scene.keeper.refused(url, "older"))).toBe("t0");
  await scene.clock.pass(hour);
  expect(tokenOf(await scene.keeper.refused(url, "older"))).toBe("t0");
  expect(scene.renewals).toEqual([]);
});

test("callers with the same refused token share one renewal, and the next refusal begins another", async () => {
  await using scene = await keeping({});
  const both = await Promise.all([scene.keeper.refused(url, "t0"), scene.keeper.refused(url, "t0")]);
  expect([both.map(tokenOf), scene.renewals]).toEqual([["t1", "t1"], ["t0"]]);
  expect(tokenOf(await scene.keeper.refused(url, "t0"))).toBe("t1");
  expect(tokenOf(await scene.keeper.refused(url, "t1"))).toBe("t2");
  expect(scene.renewals).toEqual(["t0", "t1"]);
});

test("callers with the same refused token share one renewal, also if the user must sign in after it", async () => {
  await using scene = await keeping({ renew: async () => ({ kind: "done", credentials: undefined }) });
  const both = await Promise.all([scene.keeper.refused(url, "t0"), scene.keeper.refused(url, "t0")]);
  expect([both, scene.renewals]).toEqual([[undefined, undefined], ["t0"]]);
});

test("after a successful renewal, the pause after the next failure is half a second again", async () => {
  const error = new HostError("unreachable", "no route");
  const outcomes: RenewalOutcome[] = [
    { kind: "failed", error },
    { kind: "done", credentials: undefined },
    { kind: "failed", error },
    { kind: "done", credentials: undefined },
  ];
  await using scene = await keeping({ renew: async () => outcomes.shift() ?? { kind: "failed", error } });
  while (outcomes.length > 0) {
    await expect(scene.keeper.refused(url, "t0")).rejects.toBe(error);
    await scene.clock.pass(500);
    expect(await scene.keeper.refused(url, "t0")).toBeUndefined();
  }
  expect(scene.renewals).toHaveLength(4);
});
