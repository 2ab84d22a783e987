/** The keychain of the operating system, where there is one that deserves the name. */

import { hasSecretService } from "./secret-service.ts";

/** All that is asked of a keychain: it cannot list what it holds. */
export interface Keychain {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** True if there was one. */
  remove(name: string): Promise<boolean>;
}

export interface KeychainOptions {
  /** Part of the name under which the keychain files the secrets: every state folder has its own. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

export async function openKeychain({ directory, env, platform }: KeychainOptions): Promise<Keychain | undefined> {
  if (!(await hasKeychain(env, platform))) return undefined;
  const keyring = await import("@napi-rs/keyring").catch(() => undefined); // an optional dependency
  if (keyring === undefined) return undefined;
  // Without this the library falls back on the kernel's keyring, which forgets everything at the next start.
  const options = { linux: { store: "secret-service" } } as const;
  const entry = (name: string) => new keyring.AsyncEntry(`fairlead ${directory}`, name, options);
  return {
    get: async (name) => (await entry(name).getPassword()) ?? undefined,
    set: async (name, value) => entry(name).setPassword(value),
    remove: async (name) => entry(name).deleteCredential(),
  };
}

async function hasKeychain(env: KeychainOptions["env"], platform: NodeJS.Platform): Promise<boolean> {
  if (platform === "linux") return hasSecretService(env["DBUS_SESSION_BUS_ADDRESS"]);
  return platform === "darwin" || platform === "win32";
}
