/** Stores secrets in a keychain. Their names are in a state file, because a keychain cannot list its entries. */

import { join } from "node:path";
import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import { withLock } from "../atomic/lock.ts";
import { ensurePrivateFolder } from "../atomic/private-folder.ts";
import { readState, updateState } from "../atomic/state-file.ts";
import type { Keychain, SecretStore } from "./secret-port.ts";

/**
 * Opens the store. A name enters the list before its secret enters the keychain, and leaves the list after its secret
 * has left the keychain. If the process is killed in between, the name is listed, so that `remove` removes the rest.
 */
export function openKeychainStore(directory: string, keychain: Keychain): SecretStore {
  const changeNames = (change: (names: Set<string>) => void) =>
    updateState(fileIn(directory), parseNames, (stored) => {
      const names = new Set(stored?.names);
      change(names);
      return { names: [...names].sort() };
    });

  /** Runs `work` under a lock: another process must not change the list between the two steps. */
  async function exclusively<T>(work: () => Promise<T>): Promise<T> {
    await ensurePrivateFolder(directory);
    return withLock(join(directory, "keychain"), work);
  }

  const isListed = async (name: string): Promise<boolean> => (await readKeychainNames(directory)).includes(name);

  /** Removes a new name from the list, but only if the keychain says that it has no such secret. */
  async function unlist(name: string): Promise<void> {
    const isGone = await keychain.remove(name).then(
      () => true,
      () => false,
    );
    if (isGone) await changeNames((names) => names.delete(name));
  }

  return {
    backend: "keychain",
    get: (name) => keychain.get(name).catch(refused("read", name)),
    set: (name, value) =>
      exclusively(async () => {
        const isNew = !(await isListed(name));
        if (isNew) await changeNames((names) => names.add(name));
        try {
          await keychain.set(name, value);
        } catch (error) {
          if (isNew) await unlist(name);
          refused("store", name)(error);
        }
      }),
    remove: (name) =>
      exclusively(async () => {
        const wasListed = await isListed(name);
        const isRemoved = await keychain.remove(name).catch(refused("remove", name));
        if (wasListed) await changeNames((names) => names.delete(name));
        return isRemoved || wasListed;
      }),
    list: () => readKeychainNames(directory),
  };
}

/** Names of the secrets in the keychain, from the state file. */
export async function readKeychainNames(directory: string): Promise<readonly string[]> {
  return (await readState(fileIn(directory), parseNames))?.names ?? [];
}

function fileIn(directory: string): string {
  return join(directory, "secret-names.json");
}

function parseNames(value: unknown): { names: readonly string[] } | undefined {
  if (typeof value !== "object" || value === null || !("names" in value) || !Array.isArray(value.names))
    return undefined;
  const names: readonly unknown[] = value.names;
  return names.every((name) => typeof name === "string") ? { names } : undefined;
}

function refused(verb: string, name: string): (cause: unknown) => never {
  return (cause) => {
    const reason = errorMessage(cause);
    throw new HostError("internal", `the keychain of this system did not ${verb} the secret ${name}: ${reason}`, {
      next: "Unlock the keychain and try again; or set FAIRLEAD_SECRET_STORE=file to keep secrets in an encrypted file.",
      cause,
    });
  };
}
