/** Opens the operating system's keychain, if there is one. */

import type { AsyncEntry } from "@napi-rs/keyring";
import type { Clock } from "../../clock.ts";
import type { Keychain } from "./secret-port.ts";
import { hasSecretService } from "./secret-service.ts";

/** The state folder and the system whose keychain to open. */
export interface KeychainOptions {
  /** The state folder. Its path is part of the keychain's service name, so each state folder has its own secrets. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly clock?: Clock | undefined;
}

/** Opens the keychain; undefined if the system has none. */
export async function openKeychain({ directory, ...how }: KeychainOptions): Promise<Keychain | undefined> {
  if (!(await hasKeychain(how))) return undefined;
  const keyring = await import("@napi-rs/keyring").catch(() => undefined); // an optional dependency
  if (keyring === undefined) return undefined;
  // Requires the Secret Service. The library could otherwise use the kernel's keyring, which a reboot empties.
  const options = { linux: { store: "secret-service" } } as const;
  const entries = new Map<string, AsyncEntry>();
  /** Keeps one entry object per name. Each one holds a D-Bus connection until it is garbage-collected. */
  const ask = async <T>(name: string, question: (entry: AsyncEntry) => Promise<T>): Promise<T> => {
    const entry = entries.get(name) ?? new keyring.AsyncEntry(`fairlead ${directory}`, name, options);
    entries.set(name, entry);
    try {
      return await question(entry);
    } catch (error) {
      // The connection of this entry may be broken, so the next call opens a new entry.
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

/** Maximum characters of one part. A character has at most four bytes, so 600 characters fit into a Windows entry. */
const partLength = 600;
const part = new RegExp(`[\\s\\S]{1,${partLength}}`, "gu");
/**
 * Marks an entry that contains a whole secret. For a split secret, the entry begins with `#` and contains the number of
 * parts.
 */
const whole = "=";
const divided = /^#([0-9a-f]+):(\d+)$/;

/**
 * Splits large secrets, because an entry on Windows holds at most 2560 bytes. Writes the new parts before the entry
 * with their number, so that a reader gets the whole old or the whole new secret.
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
      /*
       * If a part is missing, another process has replaced the secret during the read. The second attempt reads the new
       * secret.
       */
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

/** Names of the entries with the parts. They contain `#`, so they never equal the name of a secret. */
function partNames(name: string, id: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}#${id}.${index}`);
}
