import { appendFile, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "@fairlead/core";
import { temporaryFolder, until } from "@fairlead/test-servers";
import { describe, expect, it } from "vitest";
import type { LedgerStore } from "../../src/store/ledger.ts";
import { Spool, type SpooledEntry } from "../../src/store/spool.ts";
import { SpoolingLedger } from "../../src/store/spooling-ledger.ts";
import { newRing, ring } from "../support/open-store.ts";
import { intentOf, newRow } from "./contract/ledger.ts";

const rowEntry = (): SpooledEntry => ({ kind: "row", row: newRow({ arguments: { path: "secret path" } }) });

async function stored(spool: Spool): Promise<readonly SpooledEntry[]> {
  const entries: SpooledEntry[] = [];
  await spool.replay(async (more) => {
    entries.push(...more);
  });
  return entries;
}

describe("the spool", () => {
  it("keeps rows and intents over a restart, in their order, and gives each of them once", async () => {
    await using folder = await temporaryFolder();
    const entries: readonly SpooledEntry[] = [{ kind: "intent", intent: intentOf(newRow()) }, rowEntry(), rowEntry()];
    const before = await Spool.open(folder.path, ring);
    await Promise.all(entries.map((entry) => before.add(entry)));
    expect(before.entries).toBe(3);
    await before.close();
    const after = await Spool.open(folder.path, ring);
    expect(await stored(after)).toEqual(entries);
    expect(await stored(after)).toEqual([]);
    expect(after.entries).toBe(0);
    await after.close();
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("does not show what it keeps", async () => {
    await using folder = await temporaryFolder();
    const spool = await Spool.open(folder.path, ring);
    await spool.add(rowEntry());
    const [file = ""] = (await readdir(folder.path)).filter((name) => name.endsWith(".spool"));
    expect(await readFile(join(folder.path, file), "utf8")).not.toMatch(/secret|demo|ada/);
    await spool.close();
  });

  it("leaves out the line that a crash has cut off, and what comes after the crash is in another file", async () => {
    await using folder = await temporaryFolder();
    const entries = [rowEntry(), rowEntry(), rowEntry()] as const;
    const before = await Spool.open(folder.path, ring);
    await before.add(entries[0]);
    await before.close();
    await appendFile(join(folder.path, "00000001.spool"), "AmsxAAAA");
    const after = await Spool.open(folder.path, ring);
    await Promise.all([after.add(entries[1]), after.add(entries[2])]);
    expect(await stored(after)).toEqual(entries);
    await after.close();
  });

  it("keeps a file that no key of the ring opens", async () => {
    await using folder = await temporaryFolder();
    const before = await Spool.open(folder.path, newRing());
    await before.add(rowEntry());
    await before.close();
    const after = await Spool.open(folder.path, ring);
    expect(await stored(after)).toEqual([]);
    await after.close();
    expect(await readdir(folder.path)).toEqual(["00000001.spool.unreadable"]);
  });

  it("refuses what it has no space for, and has space again after a replay", async () => {
    await using folder = await temporaryFolder();
    const spool = await Spool.open(folder.path, ring, { mostBytes: 1000 });
    await spool.add(rowEntry());
    await expect(spool.add(rowEntry())).rejects.toMatchObject({ code: "unreachable" });
    expect(await stored(spool)).toHaveLength(1);
    await spool.add(rowEntry());
    await spool.close();
  });

  it("keeps everything if the store fails in the middle of a replay", async () => {
    await using folder = await temporaryFolder();
    const spool = await Spool.open(folder.path, ring);
    const entries = [rowEntry(), rowEntry()];
    for (const entry of entries) await spool.add(entry);
    await expect(spool.replay(() => Promise.reject(new Error("away again")))).rejects.toThrow("away again");
    expect(spool.entries).toBe(2);
    expect(await stored(spool)).toEqual(entries);
    await spool.close();
  });

  it("gives what is added during a replay to the next one", async () => {
    await using folder = await temporaryFolder();
    const spool = await Spool.open(folder.path, ring);
    const [first, second] = [rowEntry(), rowEntry()];
    await spool.add(first);
    const seen: SpooledEntry[] = [];
    await spool.replay(async (entries) => {
      seen.push(...entries);
      await spool.add(second);
    });
    expect(seen).toEqual([first]);
    expect(await stored(spool)).toEqual([second]);
    await spool.close();
  });

  it("belongs to one replica", async () => {
    await using folder = await temporaryFolder();
    const spool = await Spool.open(folder.path, ring);
    await expect(Spool.open(folder.path, ring)).rejects.toMatchObject({ code: "busy" });
    await spool.close();
    await (await Spool.open(folder.path, ring)).close();
  });
});

describe("a ledger with a spool", () => {
  it("stores what is still being written to the spool when the store is back", async () => {
    await using folder = await temporaryFolder();
    const spool = await Spool.open(folder.path, ring);
    const timers: (() => void)[] = [];
    const clock = {
      now: () => 0,
      after: (_: number, run: () => void) => {
        timers.push(run);
        return () => undefined;
      },
    };
    const rows: string[] = [];
    let isAway = true;
    const store: LedgerStore = {
      begin: () => Promise.resolve(),
      async record({ id }) {
        if (isAway) throw new HostError("unreachable", "PostgreSQL is not reachable");
        rows.push(id);
      },
      read: () => Promise.resolve([]),
      count: () => Promise.resolve([]),
      settle: () => Promise.resolve(0),
      close: () => Promise.resolve(),
    };
    const ledger = new SpoolingLedger(store, spool, () => Promise.resolve(), clock);
    const [first, second] = [newRow(), newRow()];
    const recorded = [ledger.record(first)];
    while (timers.length === 0) await Promise.resolve();
    // The first one is being written, which takes a turn of the event loop, and the second one waits for that.
    await new Promise((resolve) => process.nextTick(resolve));
    recorded.push(ledger.record(second));
    isAway = false;
    timers[0]?.();
    await Promise.all(recorded);
    await until(() => ledger.waiting === 0);
    expect(rows).toEqual([first.id, second.id]);
    await ledger.close();
  });
});
