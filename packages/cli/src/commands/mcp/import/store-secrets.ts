/** Moves the literal secrets of imported servers into the secret store. */

import type { SecretStore } from "@fairlead/core/files/secrets/secret-store";
import type { PlannedServer } from "../../../import/plan.ts";
import { secretName } from "../../../output/servers/server-secrets.ts";
import { type FoundSecret, withStoredSecrets } from "./entry-secrets.ts";

/** A secret of an imported server, and its name in the secret store. */
export interface StoredSecret {
  readonly server: string;
  /** Where the secret was in the entry, for example `env.GITHUB_TOKEN`. */
  readonly key: string;
  readonly name: string;
  /** Whether this import stored the secret. False if the store already had the same value under this name. */
  readonly isNew: boolean;
}

/** Returns the literal secrets of an entry, each with a suggested name. `storeSecrets` changes a name that is taken. */
export function literalSecretsOf({ target, conversion }: PlannedServer): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  withStoredSecrets(target, conversion.entry, (secret) => {
    found.push(secret);
    return secret.name;
  });
  return found;
}

/** Stores the servers' secrets without overwriting others. Returns the servers with references to these secrets. */
export async function storeSecrets(
  servers: readonly PlannedServer[],
  store: SecretStore,
): Promise<{ readonly servers: readonly PlannedServer[]; readonly stored: readonly StoredSecret[] }> {
  const stored: StoredSecret[] = [];
  const storedNames = new Set(await store.list());
  const changed: PlannedServer[] = [];
  for (const server of servers) {
    const names = new Map<string, string>();
    for (const secret of literalSecretsOf(server)) {
      const { name, isNew } = await keep(secret, server.target, store, storedNames);
      names.set(secret.key, name);
      stored.push({ server: server.target, key: secret.key, name, isNew });
    }
    const entry = withStoredSecrets(server.target, server.conversion.entry, ({ key, name }) => names.get(key) ?? name);
    changed.push({ ...server, conversion: { ...server.conversion, entry } });
  }
  return { servers: changed, stored };
}

/**
 * Stores one secret. If its name is already used for a different value, the name gets the server's name as a prefix.
 */
async function keep(
  { name, value }: FoundSecret,
  server: string,
  store: SecretStore,
  storedNames: Set<string>,
): Promise<{ readonly name: string; readonly isNew: boolean }> {
  const longer = secretName(`${server}_${name}`);
  for (let count = 0; ; count += 1) {
    const free = (count === 0 ? name : count === 1 ? longer : `${longer}_${count}`).slice(-128);
    if (!storedNames.has(free)) {
      await store.set(free, value);
      storedNames.add(free);
      return { name: free, isNew: true };
    }
    if ((await store.get(free)) === value) return { name: free, isNew: false };
  }
}
