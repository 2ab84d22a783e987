/** Chooses between the keychain and the encrypted file when the first secret is stored. */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Clock, systemClock } from "../../clock.ts";
import { withLock } from "../atomic/lock.ts";
import { ensurePrivateFolder } from "../atomic/private-folder.ts";
import { readKeychainNames } from "./keychain-store.ts";
import type { SecretFile } from "./secret-file.ts";
import type { Keychain, SecretStore } from "./secret-port.ts";

export interface FirstSecretOptions {
  readonly directory: string;
  readonly keychain: Keychain;
  readonly inKeychain: SecretStore;
  readonly inFile: SecretFile;
  readonly clock?: Clock | undefined;
}

/** Milliseconds to wait for the keychain. After that time, Fairlead uses the encrypted file. */
const timeLimit = 2_000;

/**
 * A store that chooses its backend only when a secret is stored, because testing a locked keychain would ask the user
 * for its password.
 */
export function openUndecided({
  directory,
  keychain,
  inKeychain,
  inFile,
  clock = systemClock,
}: FirstSecretOptions): SecretStore {
  let chosen: SecretStore | undefined;

  /**
   * The store to read from. Checks the encrypted file again, because another process may have stored the first secret
   * there.
   */
  async function current(): Promise<SecretStore> {
    if (chosen === undefined && (await inFile.isInUse())) chosen = inFile;
    return chosen ?? inKeychain;
  }

  async function decide(): Promise<SecretStore> {
    if (await inFile.isInUse()) return inFile;
    const { length } = await readKeychainNames(directory);
    return length > 0 || (await works(keychain, clock)) ? inKeychain : inFile;
  }

  return {
    get backend() {
      return (chosen ?? inKeychain).backend;
    },
    get: async (name) => (await current()).get(name),
    async set(name, value) {
      if (chosen !== undefined) return chosen.set(name, value);
      await ensurePrivateFolder(directory);
      // Chooses the store and writes the secret under one lock, so that other processes use the same store.
      return withLock(join(directory, "first-secret"), async () => {
        chosen ??= await decide();
        await chosen.set(name, value);
      });
    },
    remove: async (name) => (await current()).remove(name),
    list: async () => (await current()).list(),
  };
}

/** Whether the keychain can store and read a secret. Over SSH, a keychain often exists but cannot be unlocked. */
async function works(keychain: Keychain, clock: Clock): Promise<boolean> {
  /*
   * The name of the test entry. It is random, because an earlier test of the keychain may still be running. It begins
   * with `#`, because no name of a secret does.
   */
  const probe = `#${randomBytes(6).toString("hex")}`;
  const tried = async (): Promise<boolean> => {
    await keychain.set(probe, probe);
    const found = await keychain.get(probe);
    await keychain.remove(probe);
    return found === probe;
  };
  let callOff = (): void => undefined;
  const late = new Promise<false>((resolve) => {
    callOff = clock.after(timeLimit, () => resolve(false));
  });
  try {
    return await Promise.race([late, tried().catch(() => false)]);
  } finally {
    callOff();
  }
}
