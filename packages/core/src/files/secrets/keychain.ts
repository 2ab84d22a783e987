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
 * with their number, so that a reader gets the whole old or the whole new secret. A journal names the parts that are
 * being written or removed. If the process is killed, the next `set` or `remove` of the same name removes the rest.
 */
export function inParts(keychain: Keychain): Keychain {
  async function partsOf(name: string): Promise<PartSet | undefined> {
    return parsePartSet((await keychain.get(name)) ?? "");
  }

  async function readParts(name: string, parts: PartSet | undefined): Promise<string | undefined> {
    const texts: string[] = [];
    for (const entry of parts === undefined ? [] : partNames(name, parts)) {
      const text = await keychain.get(entry);
      if (text === undefined) return undefined;
      texts.push(text);
    }
    return texts.join("");
  }

  /** Removes the parts that the journal names, except those of the current secret, and then the journal. */
  async function clearJournal(name: string): Promise<void> {
    const journal = await keychain.get(journalOf(name));
    if (journal === undefined) return;
    const current = await partsOf(name);
    for (const parts of journal.split(" ").map(parsePartSet))
      if (parts !== undefined && parts.id !== current?.id)
        for (const entry of partNames(name, parts)) await keychain.remove(entry);
    await keychain.remove(journalOf(name));
  }

  async function writeJournal(name: string, sets: readonly (PartSet | undefined)[]): Promise<void> {
    await clearJournal(name);
    const texts = sets.flatMap((parts) => (parts === undefined ? [] : [partSetText(parts)]));
    if (texts.length > 0) await keychain.set(journalOf(name), texts.join(" "));
  }

  return {
    async get(name) {
      const first = await keychain.get(name);
      if (first === undefined || first.startsWith(whole)) return first?.slice(whole.length);
      /*
       * If a part is missing, another process has replaced the secret during the read. The second attempt reads the new
       * secret.
       */
      const value = (await readParts(name, parsePartSet(first))) ?? (await readParts(name, await partsOf(name)));
      if (value === undefined || value === "") throw new Error("a part of the secret is missing");
      return value;
    },
    async set(name, value) {
      const before = await partsOf(name);
      const texts = value.match(part) ?? [];
      const { randomBytes } = await import("node:crypto");
      const next = texts.length > 1 ? { id: randomBytes(6).toString("hex"), count: texts.length } : undefined;
      await writeJournal(name, [before, next]);
      if (next === undefined) await keychain.set(name, `${whole}${value}`);
      else {
        const names = partNames(name, next);
        for (const [index, text] of texts.entries()) await keychain.set(names[index] ?? "", text);
        await keychain.set(name, partSetText(next));
      }
      await clearJournal(name);
    },
    async remove(name) {
      await writeJournal(name, [await partsOf(name)]);
      const isRemoved = await keychain.remove(name);
      await clearJournal(name);
      return isRemoved;
    },
  };
}

/** The parts of one secret. A new secret gets a new random id. */
interface PartSet {
  readonly id: string;
  readonly count: number;
}

function partSetText({ id, count }: PartSet): string {
  return `#${id}:${count}`;
}

function parsePartSet(text: string): PartSet | undefined {
  const [, id, count] = divided.exec(text) ?? [];
  return id === undefined ? undefined : { id, count: Number(count) };
}

/** Names of the entries with the parts. They contain `#`, so they never equal the name of a secret. */
function partNames(name: string, { id, count }: PartSet): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}#${id}.${index}`);
}

function journalOf(name: string): string {
  return `${name}#`;
}
