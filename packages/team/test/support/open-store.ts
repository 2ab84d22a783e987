import { randomBytes } from "node:crypto";
import type { TestDatabase } from "@fairlead/test-servers";
import { KeyRing } from "../../src/store/key-ring.ts";
import { openPostgresStore, type PostgresOptions } from "../../src/store/postgres/store.ts";
import type { TeamStore } from "../../src/store/store.ts";

export const ring: KeyRing = newRing();

export function newRing(): KeyRing {
  return KeyRing.parse(`k1 ${randomBytes(32).toString("base64")}`, "keys");
}

/** Opens a store, with all connections of its pool: a connection that a test opened would be left behind by it. */
export async function openStore(
  database: Pick<TestDatabase, "url">,
  options: Partial<PostgresOptions> = {},
): Promise<TeamStore> {
  const store = await openPostgresStore({ url: database.url, ring, ...options });
  await Promise.all(Array.from({ length: options.pool ?? 4 }, () => store.check()));
  return store;
}

export function disposable(store: TeamStore): TeamStore & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}
