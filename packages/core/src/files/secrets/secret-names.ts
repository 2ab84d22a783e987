/** Reads the names of the stored secrets. Opens no keychain, which may take long to answer, or ask the user. */

import { readKeychainNames } from "./keychain-store.ts";
import { openSecretFile } from "./secret-file.ts";

/** Returns the names of all secrets in the keychain and in the encrypted file. @throws HostError if a file is damaged */
export async function readSecretNames(state: string): Promise<ReadonlySet<string>> {
  return new Set([...(await openSecretFile(state).list()), ...(await readKeychainNames(state))]);
}
