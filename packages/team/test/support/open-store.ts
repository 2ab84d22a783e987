import { randomBytes } from "node:crypto";
import { type TestDatabase, testDatabase } from "@fairlead/test-servers";
import { KeyRing } from "../../src/store/key-ring.ts";
import { openPostgresStore, type PostgresOptions } from "../../src/store/postgres/store.ts";
import type { TeamStore } from "../../src/store/store.ts";

export const ring: KeyRing = newRing();

export function newRing(): KeyRing {
  return KeyRing.parse(`k1 ${randomBytes(32).toString("base64")}`, "keys");
}

/** Opens a store, with all connections of its pool: a connection that a test opened would be left behind by it. */
export async function openStore(database: TestDatabase, options: Partial<PostgresOptions> = {}): Promise<TeamStore> {
  const store = await openPostgresStore({ url: database.url, ring, ...options });
  await Promise.all(Array.from({ length: options.pool ?? 4 }, () => store.check()));
  return store;
}

/** The database of a test file. The tests of a file without one are left out, and the run says so. */
export const fileDatabase = (subject: string): Promise<TestDatabase | undefined> => testDatabase(subject);
