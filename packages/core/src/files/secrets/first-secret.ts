/** A keychain that holds nothing yet, and the file to use in its place should it not work: the first secret decides. */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Clock, systemClock } from "../../clock.ts";
import { withLock } from "../atomic/lock.ts";
import { ensurePrivateFolder } from "../atomic/private-folder.ts";
import type { Keychain } from "./keychain-port.ts";
import { readKeychainNames } from "./keychain-store.ts";
import type { SecretFile } from "./secret-file.ts";
import type { SecretStore } from "./secret-port.ts";

export interface FirstSecretOptions {
  readonly directory: string;
  readonly keychain: Keychain;
  /** The secrets in that keychain. */
  readonly inKeychain: SecretStore;
  readonly inFile: SecretFile;
  readonly clock?: Clock | undefined;
}

/** A person who is asked for a password may take longer; whoever waits for a secret to be stored should not have to. */
const timeLimit = 2_000;

/** Not decided when it is opened: a locked keychain would ask for its password even where nothing is to be stored. */
export function openUndecided({
  directory,
  keychain,
  inKeychain,
  inFile,
  clock = systemClock,
}: FirstSecretOptions): SecretStore {
  let chosen: SecretStore | undefined;

  /** Another process may have decided meanwhile. */
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
      // Decided and stored in one: who comes next finds the secret, and has nothing left to decide.
      return withLock(join(directory, "first-secret"), async () => {
        chosen ??= await decide();
        await chosen.set(name, value);
      });
    },
    remove: async (name) => (await current()).remove(name),
    list: async () => (await current()).list(),
  };
}

/** Over SSH, a keychain often answers but stays locked: nobody can be asked for its password. */
async function works(keychain: Keychain, clock: Clock): Promise<boolean> {
  // No name that a person may choose, nor one of an earlier try that is still under way.
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
