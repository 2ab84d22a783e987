/** Opens the operating system's keychain, if there is one. */

import type { AsyncEntry } from "@napi-rs/keyring";
import type { Clock } from "../../clock.ts";
import type { Keychain } from "./keychain-port.ts";
import { hasSecretService } from "./secret-service.ts";

export interface KeychainOptions {
  /** The state folder; its path is part of the service name, so that each state folder has its own secrets. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly clock?: Clock | undefined;
}

export async function openKeychain({ directory, ...how }: KeychainOptions): Promise<Keychain | undefined> {
  if (!(await hasKeychain(how))) return undefined;
  const keyring = await import("@napi-rs/keyring").catch(() => undefined); // an optional dependency
  if (keyring === undefined) return undefined;
  // Otherwise the library may use the kernel's keyring, which loses its content at reboot.
  const options = { linux: { store: "secret-service" } } as const;
  const entries = new Map<string, AsyncEntry>();
  /** Reuses one entry per name, because each entry holds a D-Bus connection until it is garbage-collected. */
  const ask = async <T>(name: string, question: (entry: AsyncEntry) => Promise<T>): Promise<T> => {
    const entry = entries.get(name) ?? new keyring.AsyncEntry(`fairlead ${directory}`, name, options);
    entries.set(name, entry);
    try {
      return await question(entry);
    } catch (error) {
      // The entry's connection may be broken, so the next call opens a new one.
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
