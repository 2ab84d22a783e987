/** The keychain of the operating system, where there is one that deserves the name. */

import type { AsyncEntry } from "@napi-rs/keyring";
import type { Clock } from "../../clock.ts";
import type { Keychain } from "./keychain-port.ts";
import { hasSecretService } from "./secret-service.ts";

export interface KeychainOptions {
  /** Part of the name under which the keychain files the secrets: every state folder has its own. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly clock?: Clock | undefined;
}

export async function openKeychain({ directory, ...how }: KeychainOptions): Promise<Keychain | undefined> {
  if (!(await hasKeychain(how))) return undefined;
  const keyring = await import("@napi-rs/keyring").catch(() => undefined); // an optional dependency
  if (keyring === undefined) return undefined;
  // Without this the library falls back on the kernel's keyring, which forgets everything at the next start.
  const options = { linux: { store: "secret-service" } } as const;
  const entries = new Map<string, AsyncEntry>();
  /** Each one holds a connection to the bus until it is collected as garbage: one for a name, not one for a call. */
  const ask = async <T>(name: string, question: (entry: AsyncEntry) => Promise<T>): Promise<T> => {
    const entry = entries.get(name) ?? new keyring.AsyncEntry(`fairlead ${directory}`, name, options);
    entries.set(name, entry);
    try {
      return await question(entry);
    } catch (error) {
      // Its connection may be what is broken.
      entries.delete(name);
      throw error;
    }
  };
  const keychain: Keychain = {
    get: async (name) => (await ask(name, (entry) => entry.getPassword())) ?? undefined,
    set: (name, value) => ask(name, (entry) => entry.setPassword(value)),
    remove: (name) => ask(name, (entry) => entry.deleteCredential()),
  };
  if (how.platform !== "win32") return keychain;
  const { inParts } = await import("./keychain-parts.ts");
  return inParts(keychain);
}

async function hasKeychain({ env, platform, clock }: Omit<KeychainOptions, "directory">): Promise<boolean> {
  if (platform === "linux") return hasSecretService(env["DBUS_SESSION_BUS_ADDRESS"], clock);
  return platform === "darwin" || platform === "win32";
}
