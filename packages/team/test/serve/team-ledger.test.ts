/** How the row of a request is stored while PostgreSQL does not answer. */

import { randomBytes } from "node:crypto";
import { HostError } from "@fairlead/core";
import { beforeEach, describe, expect, it } from "vitest";
import { TeamLedger } from "../../src/serve/team-ledger.ts";
import { KeyRing } from "../../src/store/key-ring.ts";
import type { LedgerStore } from "../../src/store/ledger.ts";

const ring = KeyRing.parse(`k1 ${randomBytes(32).toString("base64")}`, "keys");
const request = { serverName: "shop", serverToolName: "pay", args: { sum: 1 }, client: "claude" };
const row = {
  request,
  decision: { decision: "allow", rule: { origin: { kind: "built_in", name: "other" } } },
  outcome: "ok",
  durationMs: 5,
} as unknown as Parameters<TeamLedger["record"]>[0];

const away = new HostError("unreachable", "a statement timed out");

describe("the row of a request", () => {
  /** How many of the next attempts fail, and how. */
  let failures = 0;
  let failure = away;
  let stored: string[] = [];
  let attempts = 0;

  beforeEach(() => {
    failures = 0;
    failure = away;
    stored = [];
    attempts = 0;
  });

  function ledger(): TeamLedger {
    let time = 0;
    const clock = {
      now: () => time,
      after: (delay: number, action: () => void) => {
        time += delay;
        queueMicrotask(action);
        return () => undefined;
      },
    };
    const store = {
      begin: async () => undefined,
      record: async ({ id }: { readonly id: string }) => {
        attempts += 1;
        if (failures > 0) {
          failures -= 1;
          throw failure;
        }
        stored.push(id);
      },
    } as unknown as LedgerStore;
    const owner = { tenant: 1, principal: "iss#ada" };
    const none = { configVersion: () => 0, keepArguments: () => false, take: async () => undefined };
    return new TeamLedger({
      ...none,
      store,
      ring,
      owner,
      replica: 1,
      isStrict: true,
      log: () => undefined,
      clock,
      now: Date.now,
    });
  }

  it("that was sent is stored when PostgreSQL answers again, once and with the id of its intent", async () => {
    const to = ledger();
    const id = await to.begin(request);
    failures = 20;
    await to.record(row, id);
    expect(stored).toEqual([id]);
  });

  it("that was sent is in doubt after ten seconds", async () => {
    const to = ledger();
    const id = await to.begin(request);
    failures = Number.POSITIVE_INFINITY;
    await expect(to.record(row, id)).rejects.toMatchObject({
      code: "lost",
      message: expect.stringContaining("may or may not have run"),
    });
    expect(attempts).toBe(41);
  });

  it("that was not sent, or that no database takes, is tried once", async () => {
    const to = ledger();
    failures = 1;
    await expect(to.record(row)).rejects.toBe(failure);
    const id = await to.begin(request);
    failure = new HostError("internal", "PostgreSQL refused a statement");
    failures = 1;
    await expect(to.record(row, id)).rejects.toBe(failure);
    expect(attempts).toBe(2);
  });
});
