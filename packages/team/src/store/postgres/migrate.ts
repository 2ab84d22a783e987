/**
 * Brings the tables to the version of this program. Several replicas may start at once. A migration only adds what the
 * version before does not need, so that both versions run side by side; what is not used any more is removed one release later.
 */

import { createHash } from "node:crypto";
import { HostError } from "@fairlead/core";
import { connectToPrimary, endQuietly } from "./address.ts";
import { inTransaction, type RunStatement, runOn } from "./database.ts";
import { type Migration, migrations } from "./migrations.ts";

/** The advisory lock of migrations: `fairlead` as bytes. */
const lockId = "7377286498862227812";
/** Milliseconds that a migration, or waiting for another replica's migration, may take. */
const longest = 60_000;

/**
 * Runs the migrations that are missing, each in its own transaction. Returns how many.
 *
 * @throws HostError `diverged` if the database is newer than this program, or was migrated by other statements
 */
export async function migrate(
  addresses: readonly string[],
  wanted: readonly Migration[] = migrations,
): Promise<number> {
  const client = await connectToPrimary(addresses, { query_timeout: longest, statement_timeout: longest });
  try {
    let isBroken = false;
    const run = runOn(client, () => {
      isBroken = true;
    });
    let count = 0;
    while (
      await inTransaction(
        run,
        (each) => migrateOne(each, wanted),
        () => isBroken,
      )
    )
      count += 1;
    return count;
  } finally {
    await endQuietly(client);
  }
}

/** @throws HostError `diverged` if a migration is missing, or if the database is newer than this program */
export async function refuseOlder(addresses: readonly string[]): Promise<void> {
  const client = await connectToPrimary(addresses);
  try {
    const run = runOn(client, () => undefined);
    const [found] = await run<{ exists: boolean }>("select to_regclass('fairlead_migrations') is not null as exists");
    const count = found?.exists === true ? (await doneMigrations(run, migrations)).length : 0;
    if (count === migrations.length) return;
    const state = count === 0 ? "has no tables of Fairlead" : `has version ${count}, this program ${migrations.length}`;
    throw new HostError("diverged", `the database ${state}`, { next: "fairlead team migrate" });
  } finally {
    await endQuietly(client);
  }
}

/** Runs the next migration. Returns false if none is missing. */
async function migrateOne(run: RunStatement, wanted: readonly Migration[]): Promise<boolean> {
  await run("select pg_advisory_xact_lock($1)", [lockId]);
  await run(
    `create table if not exists fairlead_migrations
        (number int primary key, name text not null, sha256 text not null, at timestamptz not null default now())`,
  );
  const done = await doneMigrations(run, wanted);
  const next = wanted[done.length];
  if (next === undefined) return false;
  await run(next.statements);
  await run("insert into fairlead_migrations (number, name, sha256) values ($1, $2, $3)", [
    done.length + 1,
    next.name,
    checksum(next),
  ]);
  return true;
}

/** The migrations that have run. */
async function doneMigrations(run: RunStatement, wanted: readonly Migration[]): Promise<readonly unknown[]> {
  const done = await run<{ number: number; name: string; sha256: string }>(
    "select number, name, sha256 from fairlead_migrations order by number",
  );
  const newest = done.at(-1)?.number ?? 0;
  if (newest > wanted.length)
    throw new HostError("diverged", `the database is newer than this program: it has version ${newest}`, {
      next: "Start the version of Fairlead that the other replicas have.",
    });
  for (const { number, name, sha256 } of done)
    if (checksum(wanted[number - 1]) !== sha256)
      throw new HostError("diverged", `migration ${number} (${name}) of the database is not the one of this program`, {
        next: "Give each installation of Fairlead a database of its own.",
      });
  return done;
}

function checksum(migration: Migration | undefined): string {
  return createHash("sha256")
    .update(migration?.statements ?? "")
    .digest("hex");
}
