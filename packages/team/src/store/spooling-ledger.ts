/** A ledger that writes to the spool of this replica while the store is away (`whenAway: "spool"`). */

import type { Clock } from "@fairlead/core";
import type { AuditRow, CountedBy, Intent, LedgerSearch, LedgerStore, ReadRow, RowCount } from "./ledger.ts";
import type { Spool, SpooledEntry } from "./spool.ts";
import { isStoreAway } from "./store.ts";

/** Milliseconds between two looks whether the store is back. */
const pause = 500;

export class SpoolingLedger implements LedgerStore {
  readonly #inner: LedgerStore;
  readonly #spool: Spool;
  readonly #check: () => Promise<void>;
  readonly #clock: Clock;
  #isAway = false;
  #isClosed = false;
  #cancelTimer: (() => void) | undefined;
  /** One return after the other: two would replay the same files. */
  #returning: Promise<void> = Promise.resolve();
  /** What is being written into the spool. */
  readonly #adding = new Set<Promise<void>>();

  /** @param check Resolves if the store answers. */
  constructor(inner: LedgerStore, spool: Spool, check: () => Promise<void>, clock: Clock) {
    this.#inner = inner;
    this.#spool = spool;
    this.#check = check;
    this.#clock = clock;
  }

  /** Stores what an earlier run of this replica has left. The replica is not ready before. */
  async open(): Promise<void> {
    await this.#replay();
  }

  /** How many entries wait in the spool. */
  get waiting(): number {
    return this.#spool.entries;
  }

  begin(intent: Intent): Promise<void> {
    return this.#add({ kind: "intent", intent }, () => this.#inner.begin(intent));
  }

  record(row: AuditRow): Promise<void> {
    return this.#add({ kind: "row", row }, () => this.#inner.record(row));
  }

  read(search: LedgerSearch): Promise<readonly ReadRow[]> {
    return this.#inner.read(search);
  }

  count(search: LedgerSearch, by: readonly CountedBy[]): Promise<readonly RowCount[]> {
    return this.#inner.count(search, by);
  }

  settle(before: number): Promise<number> {
    return this.#inner.settle(before);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await this.#returning;
    await this.#inner.close();
    // What waits now is stored by the next run, or by this one if the store is back.
    await this.#replay().catch(() => undefined);
    await this.#spool.close();
  }

  async #add(entry: SpooledEntry, store: () => Promise<void>): Promise<void> {
    if (!this.#isAway) {
      try {
        await store();
        return;
      } catch (error) {
        if (!isStoreAway(error)) throw error;
        this.#leave();
      }
    }
    const adding = this.#spool.add(entry);
    this.#adding.add(adding);
    try {
      await adding;
    } finally {
      this.#adding.delete(adding);
    }
  }

  #leave(): void {
    if (this.#isAway) return;
    this.#isAway = true;
    this.#lookLater();
  }

  #lookLater(): void {
    this.#cancelTimer?.();
    if (this.#isClosed) return;
    this.#cancelTimer = this.#clock.after(
      pause,
      () => {
        this.#returning = this.#returning.then(() => this.#return());
      },
      { background: true },
    );
  }

  async #return(): Promise<void> {
    try {
      await this.#check();
      // New entries go to the store from now on, so the spool does not grow while it is replayed.
      this.#isAway = false;
      // An entry that is written during the replay would wait for the next one.
      await Promise.allSettled(this.#adding);
      await this.#replay();
    } catch {
      this.#isAway = true;
      this.#lookLater();
    }
  }

  /** An entry may be stored already: the answer of the store was lost. The store keeps an id once. */
  async #replay(): Promise<void> {
    await this.#spool.replay(async (entries) => {
      await Promise.all(
        entries.map((entry) =>
          entry.kind === "intent" ? this.#inner.begin(entry.intent) : this.#inner.record(entry.row),
        ),
      );
    });
  }
}
