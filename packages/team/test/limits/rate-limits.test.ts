import { HostError } from "@fairlead/core";
import { testDatabase } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { readLimitSettings } from "../../src/limits/limit-settings.ts";
import { LocalLimits } from "../../src/limits/local-limits.ts";
import { RateLimits, shareOf } from "../../src/limits/rate-limits.ts";
import type { LimitStore } from "../../src/store/limits.ts";
import type { TeamStore } from "../../src/store/store.ts";
import { openStore } from "../support/open-store.ts";

class HandClock {
  time = 0;
  readonly now = (): number => this.time;
}

const ada = { tenant: 1, principal: "iss#ada" };

function outcomeOf(taking: Promise<void>): Promise<"ok" | { after: number | undefined; message: string }> {
  return taking.then(
    () => "ok" as const,
    (error: unknown) => {
      if (!(error instanceof HostError) || error.code !== "busy") throw error;
      return { after: error.retryAfter, message: error.message };
    },
  );
}

async function countOf(takings: readonly Promise<void>[]): Promise<number> {
  return (await Promise.all(takings.map(outcomeOf))).filter((each) => each === "ok").length;
}

describe("limits in the settings", () => {
  test.each([
    ["10/s", { rate: 10, burst: 10, whenAway: "open" }],
    ["10/s burst 50", { rate: 10, burst: 50, whenAway: "open" }],
    ["600/m closed", { rate: 10, burst: 10, whenAway: "closed" }],
    ["0.5/s", { rate: 0.5, burst: 1, whenAway: "open" }],
    ["90/h burst 3 open", { rate: 0.025, burst: 3, whenAway: "open" }],
  ])("%s", (text, expected) => {
    expect(readLimitSettings({ perUser: text }).perUser).toEqual({ ...expected, text });
    expect(readLimitSettings({ perServer: { github: text } }).perServer.get("github")).toMatchObject(expected);
  });

  test.each([
    [{ perUser: "fast" }, "fairlead.team.limits.perUser"],
    [{ perUser: "0/s" }, "fairlead.team.limits.perUser"],
    [{ perUser: "10/s burst 0" }, "fairlead.team.limits.perUser"],
    [{ perUser: 10 }, "fairlead.team.limits.perUser"],
    [{ perServer: { github: "10/d" } }, "fairlead.team.limits.perServer.github"],
    [{ perServer: "10/s" }, "fairlead.team.limits.perServer"],
    [{ perTeam: "10/s" }, "fairlead.team.limits.perTeam"],
  ])("%j is a mistake that is named", (limits, where) => {
    expect(() => readLimitSettings(limits)).toThrow(where);
  });

  test("without limits there are none", async () => {
    const { perUser, perServer } = readLimitSettings(undefined);
    expect([perUser, perServer.size]).toEqual([undefined, 0]);
  });
});

describe("four replicas with one bucket", () => {
  const rule = "100/s burst 20";

  test("allow 100 a second over ten seconds, within 5 %, and in no second more than 100 and four shares", async () => {
    const clock = new HandClock();
    const settings = readLimitSettings({ perUser: rule });
    const store = new LocalLimits(clock);
    const replicas = Array.from({ length: 4 }, () => new RateLimits({ settings, store, replicas: () => 4, clock }));
    const times: number[] = [];
    // 400 requests a second, to the replicas in turn, for eleven seconds.
    for (let at = 0; at < 4400; at += 1) {
      clock.time = at * 2.5;
      const outcome = await outcomeOf(replicas[at % 4]?.take(ada, "s") ?? Promise.reject(new Error("no replica")));
      if (outcome === "ok") times.push(clock.time);
    }
    const within = times.filter((time) => time < 10_000).length;
    expect(within).toBeGreaterThanOrEqual(950);
    expect(within).toBeLessThanOrEqual(1050);
    const share = shareOf({ rate: 100, burst: 20 });
    for (const start of times) {
      const inSecond = times.filter((time) => time >= start && time < start + 1000).length;
      expect(inSecond).toBeLessThanOrEqual(100 + 4 * share);
    }
  });

  test("ask the store once for many requests that come at once", async () => {
    const clock = new HandClock();
    const local = new LocalLimits(clock);
    let asked = 0;
    const store: LimitStore = {
      take(...wanted) {
        asked += 1;
        return local.take(...wanted);
      },
    };
    const limits = new RateLimits({
      settings: readLimitSettings({ perUser: "1000/s burst 1000" }),
      store,
      replicas: () => 1,
      clock,
    });
    expect(await countOf(Array.from({ length: 1000 }, () => limits.take(ada, "s")))).toBe(1000);
    expect(asked).toBe(10);
  });
});

test("a refusal says when to come again, and one user's requests do not count for another one", async () => {
  const clock = new HandClock();
  const settings = readLimitSettings({ perUser: "2/s burst 4", perServer: { slow: "1/s" } });
  const limits = new RateLimits({ settings, store: new LocalLimits(clock), replicas: () => 1, clock });
  expect(await countOf(Array.from({ length: 6 }, () => limits.take(ada, "s")))).toBe(4);
  expect(await outcomeOf(limits.take(ada, "s"))).toEqual({
    after: 500,
    message: "too many requests: this user may send 2/s burst 4",
  });
  expect(limits.refused).toBe(3);
  expect(await outcomeOf(limits.take({ tenant: 1, principal: "iss#eve" }, "s"))).toBe("ok");
  expect(await outcomeOf(limits.take({ tenant: 2, principal: "iss#ada" }, "s"))).toBe("ok");
  expect(await outcomeOf(limits.take({ tenant: 1, principal: "iss#bob" }, "slow"))).toBe("ok");
  expect(await outcomeOf(limits.take({ tenant: 1, principal: "iss#cyd" }, "slow"))).toMatchObject({
    message: 'too many requests: "slow" gets 1/s',
  });
  expect(await outcomeOf(limits.take({ tenant: 2, principal: "iss#cyd" }, "slow"))).toBe("ok");
  clock.time = 500;
  expect(await outcomeOf(limits.take(ada, "s"))).toBe("ok");
});

describe("while the store is away", () => {
  function limitsWith(rule: string) {
    const clock = new HandClock();
    const local = new LocalLimits(clock);
    const state = { isAway: true };
    const store: LimitStore = {
      take: (...wanted) =>
        state.isAway ? Promise.reject(new HostError("unreachable", "away")) : local.take(...wanted),
    };
    const limits = new RateLimits({ settings: readLimitSettings({ perUser: rule }), store, replicas: () => 4, clock });
    return { clock, state, limits };
  }

  test("each replica allows its part of the rate, and all of it when the store is back", async () => {
    const { clock, state, limits } = limitsWith("100/s burst 100");
    const sendFor = async (from: number, to: number) => {
      let count = 0;
      for (let at = from; at < to; at += 2.5) {
        clock.time = at;
        count += await countOf([limits.take(ada, "s")]);
      }
      return count;
    };
    expect(await sendFor(0, 4000)).toBe(25 + 4 * 25 - 1);
    state.isAway = false;
    await sendFor(4000, 5100);
    expect(await sendFor(5100, 7100)).toBeGreaterThan(150);
  });

  test("a closed rule refuses", async () => {
    const { limits } = limitsWith("100/s closed");
    expect(await outcomeOf(limits.take(ada, "s"))).toMatchObject({ after: 1000 });
  });
});

const database = await testDatabase("rate limits of four replicas");

describe.runIf(database !== undefined)("with PostgreSQL", () => {
  let stores: readonly TeamStore[] = [];
  beforeAll(async () => {
    if (database === undefined) return;
    stores = await Promise.all(Array.from({ length: 4 }, () => openStore(database, { pool: 1 })));
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await database?.[Symbol.asyncDispose]();
  });

  it("four replicas allow together what the bucket has, if all take at once", async () => {
    const settings = readLimitSettings({ perUser: "1/h burst 100" });
    const replicas = stores.map(
      ({ limits: store }) =>
        new RateLimits({ settings, store, replicas: () => 4, clock: { now: () => performance.now() } }),
    );
    const takings = Array.from({ length: 60 }, () => replicas.map((each) => each.take(ada, "s"))).flat();
    expect(await countOf(takings)).toBe(100);
  });
});
