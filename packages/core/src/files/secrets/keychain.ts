/** Opens the operating system's keychain, if there is one. */

import type { AsyncEntry } from "@napi-rs/keyring";
import type { Clock } from "../../clock.ts";
import type { Keychain } from "./secret-port.ts";
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
  /*
   * Requires the Secret Service. Otherwise the library may use the kernel's keyring, which loses its content at a
   * reboot.
   */
  const options = { linux: { store: "secret-service" } } as const;
  const entries = new Map<string, AsyncEntry>();
  /** Reuses one entry per name, because each entry keeps a D-Bus connection open until it is garbage-collected. */
  const ask = async <T>(name: string, question: (entry: AsyncEntry) => Promise<T>): Promise<T> => {
    const entry = entries.get(name) ?? new keyring.AsyncEntry(`fairlead ${directory}`, name, options);
    entries.set(name, entry);
    try {
      return await question(entry);
    } catch (error) {
      // The next call opens a new entry, because the connection of this entry may be broken.
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
  return inParts(keychain);
}

async function hasKeychain({ env, platform, clock }: Omit<KeychainOptions, "directory">): Promise<boolean> {
  if (platform === "linux") return hasSecretService(env["DBUS_SESSION_BUS_ADDRESS"], clock);
  return platform === "darwin" || platform === "win32";
}

/**
 * Maximum characters of one part of a split secret. A character takes at most four bytes, so a part fits into an entry
 * on Windows.
 */
const partLength = 600;
const part = new RegExp(`[\\s\\S]{1,${partLength}}`, "gu");
/**
 * The first character of an entry that contains a whole secret. The entry of a split secret begins with `#` and
 * contains the number of parts.
 */
const whole = "=";
const divided = /^#([0-9a-f]+):(\d+)$/;

/**
 * Splits large secrets into several entries, because an entry on Windows holds at most 2560 bytes. Writes the new parts
 * before the entry that contains their number, so that a reader gets either the old or the new secret.
 */
export function inParts(keychain: Keychain): Keychain {
  async function partsOf(name: string): Promise<readonly string[]> {
    const [, id = "", count = "0"] = divided.exec((await keychain.get(name)) ?? "") ?? [];
    return partNames(name, id, Number(count));
  }

  async function readParts(names: readonly string[]): Promise<string | undefined> {
    const parts: string[] = [];
    for (const name of names) {
      const part = await keychain.get(name);
      if (part === undefined) return undefined;
      parts.push(part);
    }
    return parts.join("");
  }

  async function removeAll(names: readonly string[]): Promise<void> {
    for (const name of names) await keychain.remove(name);
  }

  return {
    async get(name) {
      const first = await keychain.get(name);
      if (first === undefined || first.startsWith(whole)) return first?.slice(whole.length);
      // If a part is missing, another process has replaced the secret meanwhile, so everything is read again.
      const value = (await readParts(await partsOf(name))) ?? (await readParts(await partsOf(name)));
      if (value === undefined || value === "") throw new Error("a part of the secret is missing");
      return value;
    },
    async set(name, value) {
      const before = await partsOf(name);
      const parts = value.match(part) ?? [];
      if (parts.length <= 1) await keychain.set(name, `${whole}${value}`);
      else {
        const { randomBytes } = await import("node:crypto");
        const id = randomBytes(6).toString("hex");
        const names = partNames(name, id, parts.length);
        for (const [index, part] of parts.entries()) await keychain.set(names[index] ?? "", part);
        await keychain.set(name, `#${id}:${parts.length}`);
      }
      await removeAll(before);
    },
    async remove(name) {
      const parts = await partsOf(name);
      const isRemoved = await keychain.remove(name);
      await removeAll(parts);
      return isRemoved;
    },
  };
}

/** The names of the entries that hold the parts. They contain `#`, because no name of a secret does. */
function partNames(name: string, id: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}#${id}.${index}`);
}
