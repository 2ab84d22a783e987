import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { createLedger, type Ledger } from "../../../src/policy/ledger/ledger.ts";
import { called } from "../../support/ledger-sample.ts";
import { type ManualClock, manualClock } from "../../support/manual-clock.ts";

function ledgerIn(folder: string, clock: ManualClock): Ledger {
  return createLedger({ folder, keepArguments: () => false, now: () => 0, clock });
}

const toolsIn = async (ledger: Ledger): Promise<readonly string[]> => (await ledger.read()).map(({ tool }) => tool);

test("added entries are written together, in their order, after 40 ms", async () => {
  await using home = await temporaryFolder();
  const clock = manualClock();
  const ledger = ledgerIn(home.path, clock);
  const written = ["a", "b", "c"].map((tool) => ledger.add({ ...called, tool }));
  expect(new Set(written).size).toBe(1);
  await clock.pass(39);
  expect(await readdir(home.path)).toEqual([]);
  await clock.pass(1);
  await Promise.all(written);
  expect(await toolsIn(ledger)).toEqual(["a", "b", "c"]);
  expect(clock.pending()).toBe(0);
});

test("closing, a full batch and an entry that is written at once wait for no timer", async () => {
  await using home = await temporaryFolder();
  const clock = manualClock();
  const ledger = ledgerIn(home.path, clock);
  void ledger.add({ ...called, tool: "first" });
  await ledger.close();
  expect(await toolsIn(ledger)).toEqual(["first"]);
  await Promise.all(Array.from({ length: 256 }, () => ledger.add({ ...called, tool: "many" })));
  expect(await toolsIn(ledger)).toHaveLength(257);
  void ledger.add({ ...called, tool: "before" });
  await ledger.write({ ...called, tool: "last" });
  expect((await toolsIn(ledger)).slice(-2)).toEqual(["before", "last"]);
  expect(clock.pending()).toBe(0);
});

test("a batch that cannot be written fails as a whole, and the next one is tried", async () => {
  await using home = await temporaryFolder();
  const ledger = ledgerIn(home.path, manualClock());
  const file = join(home.path, "000001.jsonl");
  await mkdir(file);
  const failed = [ledger.add(called), ledger.add(called)].map((written) =>
    expect(written).rejects.toMatchObject({ code: "internal" }),
  );
  await ledger.close();
  await Promise.all(failed);
  await rm(file, { recursive: true });
  await ledger.write({ ...called, tool: "next" });
  expect(await toolsIn(ledger)).toEqual(["next"]);
});
