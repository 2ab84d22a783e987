/** Chooses between the keychain and the encrypted file when the first secret is stored. */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Clock, systemClock } from "../../clock.ts";
import { withLock } from "../atomic/lock.ts";
import { ensurePrivateFolder } from "../atomic/private-folder.ts";
import { readKeychainNames } from "./keychain-store.ts";
import type { SecretFile } from "./secret-file.ts";
import type { Keychain, SecretStore } from "./secret-port.ts";

/** Milliseconds to wait for the keychain. After that time, Fairlead uses the encrypted file. */
const timeLimit = 2_000;

/**
 * A store that chooses between keychain and file only when the first secret is stored. An earlier test of a locked
 * keychain would ask the user for a password without need.
 */
export function openUndecided(
  directory: string,
  keychain: Keychain,
  inKeychain: SecretStore,
  inFile: SecretFile,
  clock: Clock = systemClock,
): SecretStore {
  let chosen: SecretStore | undefined;

  /**
   * The store to read from. Another process may have stored the first secret in the encrypted file, so this checks
   * again.
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
      // One lock for choosing and writing, so that all processes choose the same store.
      return withLock(join(directory, "first-secret"), async () => {
        chosen ??= await decide();
        await chosen.set(name, value);
      });
    },
    remove: async (name) => (await current()).remove(name),
    list: async () => (await current()).list(),
  };
}

/** Whether the keychain really works. Over SSH, a keychain often exists but cannot be unlocked. */
async function works(keychain: Keychain, clock: Clock): Promise<boolean> {
  /*
   * The name of a test entry. It is random, because an earlier test may still be running. Names of secrets never begin
   * with `#`.
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
