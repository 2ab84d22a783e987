/**
 * The partitions of the ledger's tables: `audit` by day, `intents` by hour. They are made ahead, so that no insert waits
 * for them, and removed as a whole, because to delete many rows costs more than to write them.
 */

import { type Database, lockFor } from "./database.ts";
import { keyDigest } from "./values.ts";

/** A table with partitions, and how long each of them is, in milliseconds. */
export type PartitionedTable = "audit" | "intents";

const hour = 3_600_000;
const lengths: Readonly<Record<PartitionedTable, number>> = { audit: 24 * hour, intents: hour };
/** For how many partitions after the current one there are tables already. */
const ahead: Readonly<Record<PartitionedTable, number>> = { audit: 2, intents: 6 };

export class Partitions {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Makes the partitions for now and the time ahead. */
  async makeAhead(now: number): Promise<void> {
    for (const table of tables) {
      const count = ahead[table] + 2;
      // The one before, too: a request that began before midnight has a row of the day before.
      await this.make(
        table,
        Array.from({ length: count }, (_, index) => now + (index - 1) * lengths[table]),
      );
    }
  }

  /** Makes the partitions for these times, unless they exist. */
  async make(table: PartitionedTable, times: readonly number[]): Promise<void> {
    const starts = new Set(times.map((time) => startOf(table, time)));
    const existing = new Set(await this.#starts(table));
    const missing = [...starts].filter((start) => !existing.has(start));
    if (missing.length === 0) return;
    await this.#alone(async (run) => {
      for (const start of missing) {
        const [from, to] = [start, start + lengths[table]].map((time) => new Date(time).toISOString());
        await run(
          `create table if not exists ${nameOf(table, start)} partition of ${table} for values from ('${from}') to ('${to}')`,
        );
      }
    });
  }

  /** Removes the partitions that end before this time. Returns how many. */
  async removeBefore(table: PartitionedTable, time: number): Promise<number> {
    const old = (await this.#starts(table)).filter((start) => start + lengths[table] <= time);
    for (const start of old)
      await this.#alone(async (run) => {
        const name = nameOf(table, start);
        const [row] = await run("select 1 from pg_inherits where inhrelid = to_regclass($1)", [name]);
        if (row === undefined) return;
        await run(`alter table ${table} detach partition ${name}`);
        await run(`drop table ${name}`);
      });
    return old.length;
  }

  /** When the existing partitions begin. */
  async #starts(table: PartitionedTable): Promise<readonly number[]> {
    const rows = await this.#database.run<{ name: string }>(
      `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = $1::regclass`,
      [table],
    );
    return rows.flatMap(({ name }) => {
      const [, year, month, day, hours = "00"] = /_(\d{4})(\d\d)(\d\d)(\d\d)?$/.exec(name) ?? [];
      return year === undefined ? [] : Date.parse(`${year}-${month}-${day}T${hours}:00:00Z`);
    });
  }

  /** One replica at a time, and not longer than the others can wait for the table. */
  #alone(work: Parameters<Database["transaction"]>[0]): Promise<unknown> {
    return this.#database.transaction(async (run) => {
      await run("set local lock_timeout = '2s'");
      await lockFor(run, keyDigest("partitions"));
      await work(run);
    });
  }
}

const tables: readonly PartitionedTable[] = ["audit", "intents"];

function startOf(table: PartitionedTable, time: number): number {
  return time - (time % lengths[table]);
}

function nameOf(table: PartitionedTable, start: number): string {
  const digits = new Date(start).toISOString().replaceAll(/[^\d]/g, "");
  return `${table}_${digits.slice(0, table === "audit" ? 8 : 10)}`;
}
