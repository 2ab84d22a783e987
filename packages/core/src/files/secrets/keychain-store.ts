/** Stores secrets in a keychain. Their names are in a state file, because a keychain cannot list its entries. */

import { join } from "node:path";
import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import { readState, updateState } from "../atomic/state-file.ts";
import type { Keychain, SecretStore } from "./secret-port.ts";

/**
 * Opens the store. Each change is made in the keychain first and then in the list of names. When a name leaves the
 * list, its secret is already removed.
 */
export function openKeychainStore(directory: string, keychain: Keychain): SecretStore {
  const changeNames = (change: (names: Set<string>) => void) =>
    updateState(fileIn(directory), parseNames, (stored) => {
      const names = new Set(stored?.names);
      change(names);
      return { names: [...names].sort() };
    });
  return {
    backend: "keychain",
    get: (name) => keychain.get(name).catch(refused("read", name)),
    async set(name, value) {
      await keychain.set(name, value).catch(refused("store", name));
      await changeNames((names) => names.add(name));
    },
    async remove(name) {
      const isRemoved = await keychain.remove(name).catch(refused("remove", name));
      await changeNames((names) => names.delete(name));
      return isRemoved;
    },
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
