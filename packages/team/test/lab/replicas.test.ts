/** A tenth of what `npm run bench -- team` does to several replicas, as far as it can be counted. */

import { noteProgram, postgresVersion } from "@fairlead/test-servers";
import { describe, expect, it } from "vitest";
import { type Bar, killReplicas, stopPostgres } from "./bars.ts";
import { Lab, type LabOptions } from "./lab.ts";

noteProgram("three replicas under load", "PostgreSQL", postgresVersion());

describe.runIf(postgresVersion() !== undefined)("three replicas under load", () => {
  it("lose no call, row or other caller with a replica that is killed", async () => {
    await using lab = await openLab({ networks: true });
    noteProgram("replicas with networks of their own", "network namespaces", lab.hasNetworks ? "ip netns" : undefined);
    expectMet(await killReplicas(lab, { times: 1, callers: 8 }));
  });

  it("execute nothing that they refuse while PostgreSQL is away", async () => {
    await using lab = await openLab();
    expectMet(await stopPostgres(lab, { milliseconds: 500, mode: "closed", callers: 8 }));
  });

  it("go on with a spool while PostgreSQL is away, and lose no row", async () => {
    await using lab = await openLab({ audit: { whenAway: "spool" } });
    expectMet(await stopPostgres(lab, { milliseconds: 500, mode: "spool", callers: 8 }));
  });
});

async function openLab(options: LabOptions = {}): Promise<Lab> {
  const lab = await Lab.open({ replicas: 3, users: 6, ...options });
  if (lab === undefined) throw new Error("PostgreSQL is absent");
  return lab;
}

function expectMet(bars: readonly Bar[]): void {
  expect(bars.length).toBeGreaterThan(1);
  expect(bars.filter(({ isMet, isTime }) => !isMet && isTime !== true)).toEqual([]);
}
