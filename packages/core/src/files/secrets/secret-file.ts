/**
 * Stores secrets in an encrypted file, with its random key in a second file. An attacker who copies only one of the files
 * learns no secret, at most the secrets' names. Other programs of the same user can read both files; only a keychain
 * prevents that.
 */

import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject, parseJson } from "@fairlead/wire/json";
import { HostError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { withLock } from "../atomic/lock.ts";
import { ensurePrivateFolder, keepPrivate, privateFileMode } from "../atomic/private-folder.ts";
import { setAside } from "../atomic/state-file.ts";
import { updateText } from "../atomic/update-text.ts";
import { readText, type TextFile } from "../read-text.ts";
import { notRead } from "../system-error.ts";
import type { SecretStore } from "./secret-port.ts";

export interface SecretFile extends SecretStore {
  isInUse(): Promise<boolean>;
}

interface Vault {
  readonly key: Buffer | undefined;
  readonly entries: ReadonlyMap<string, EncryptedSecret>;
}

/** The error for a damaged store. `rest` holds the entries that can still be read. */
class Broken extends Error {
  readonly rest: Vault | undefined;

  constructor(message: string, rest?: Vault) {
    super(message);
    this.rest = rest;
  }
}

/** Opens `secrets.json` and its key in the state folder. The files need not exist. */
export function openSecretFile(directory: string): SecretFile {
  const storeFile = join(directory, "secrets.json");
  const keyFile = join(directory, "secrets.key");

  async function readVault(): Promise<Vault> {
    await Promise.all([directory, storeFile, keyFile].map(keepPrivate));
    const [stored, keyText] = await Promise.all([readOwn(storeFile), readOwn(keyFile)]);
    const key = keyText.kind === "text" ? keyFromText(keyText.text) : undefined;
    if (stored.kind === "absent") return { key, entries: new Map() };
    const parsed = stored.kind === "text" ? parseStore(stored.text) : undefined;
    if (parsed === undefined) throw new Broken("the file is damaged");
    if (key === undefined || keyId(key) !== parsed.key) throw new Broken(`its key, ${keyFile}, is missing or wrong`);
    return { key, entries: parsed.entries };
  }

  async function writeVault({ key, entries }: Vault): Promise<void> {
    const secrets = Object.fromEntries(entries);
    const text = `${JSON.stringify({ key: key && keyId(key), secrets }, undefined, 2)}\n`;
    await updateText(storeFile, () => text, { mode: privateFileMode });
  }

  async function makeKey(): Promise<Buffer> {
    if ((await readText(keyFile, limits.settingsBytes)).kind !== "absent") await setAside(keyFile);
    const key = randomBytes(keyBytes);
    await updateText(keyFile, () => `${key.toString("base64")}\n`, { mode: privateFileMode });
    return key;
  }

  /** Runs `work` under the lock. A damaged file is kept under another name. */
  async function exclusively<T>(work: () => Promise<T>): Promise<T> {
    await ensurePrivateFolder(directory);
    return withLock(join(directory, "secrets"), async () => {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Broken)) throw error;
        /*
         * If some secrets are still readable, the file is copied and not renamed, so that other processes always find
         * it.
         */
        const aside = await setAside(storeFile, error.rest && copyFile);
        if (error.rest !== undefined) await writeVault(error.rest);
        throw brokenStore(storeFile, aside, error);
      }
    });
  }

  /**
   * Reads the store. If the files look damaged, another process may be writing them, so they are read again under the
   * lock.
   */
  async function reading<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      return exclusively(work);
    }
  }

  return {
    backend: "file",
    isInUse: async () => (await readText(storeFile, limits.settingsBytes)).kind !== "absent",
    get: (name) =>
      reading(async () => {
        const { key, entries } = await readVault();
        const encrypted = entries.get(name);
        if (key === undefined || encrypted === undefined) return undefined;
        const value = decrypt(key, name, encrypted);
        if (value !== undefined) return value;
        const rest = new Map(entries);
        rest.delete(name);
        throw new Broken(`the secret ${name} is damaged`, { key, entries: rest });
      }),
    set: (name, value) =>
      exclusively(async () => {
        const vault = await readVault();
        const key = vault.key ?? (await makeKey());
        await writeVault({ key, entries: new Map(vault.entries).set(name, encrypt(key, name, value)) });
      }),
    remove: (name) =>
      exclusively(async () => {
        const { key, entries } = await readVault();
        const rest = new Map(entries);
        if (!rest.delete(name)) return false;
        await writeVault({ key, entries: rest });
        return true;
      }),
    list: () => reading(async () => [...(await readVault()).entries.keys()]),
  };
}

/**
 * Reads a file of the store. If access is refused, the file may be undamaged, so this throws a `HostError` and not
 * `Broken`.
 */
async function readOwn(file: string): Promise<TextFile> {
  const found = await readText(file, limits.settingsBytes);
  if (found.kind === "unreadable" && found.cause !== undefined) throw notRead(file, found.reason, found.cause);
  return found;
}

function parseStore(text: string): { key: string; entries: Map<string, EncryptedSecret> } | undefined {
  const json = parseJson(text);
  if (!isObject(json) || typeof json["key"] !== "string" || !isObject(json["secrets"])) return undefined;
  const entries = new Map<string, EncryptedSecret>();
  for (const [name, encrypted] of Object.entries(json["secrets"])) {
    if (!isEncrypted(encrypted)) return undefined;
    entries.set(name, encrypted);
  }
  return { key: json["key"], entries };
}

function isEncrypted(value: unknown): value is EncryptedSecret {
  return isObject(value) && ["iv", "tag", "data"].every((part) => typeof value[part] === "string");
}

function brokenStore(file: string, aside: string, { message: reason, rest }: Broken): HostError {
  const where =
    rest === undefined ? "The file was renamed to" : "The damaged secret was removed; the old file was copied to";
  return new HostError("internal", `the secrets in ${file} cannot be read: ${reason}. ${where} ${aside}`, {
    next: `Store the secrets again (fairlead secret set NAME), or restore ${file} and its key file from a backup.`,
  });
}

/** An encrypted secret. All members are in Base64. */
interface EncryptedSecret {
  readonly iv: string;
  readonly tag: string;
  readonly data: string;
}

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const tagBytes = 16;

function keyFromText(text: string): Buffer | undefined {
  const key = Buffer.from(text.trim(), "base64");
  return key.length === keyBytes ? key : undefined;
}

/** Identifies a key without revealing it, to tell a wrong key from a damaged entry. */
function keyId(key: Buffer): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 16);
}

/** Encrypts a secret with AES-256-GCM. The name is authenticated too, so an attacker cannot swap two entries. */
function encrypt(key: Buffer, name: string, value: string): EncryptedSecret {
  const iv = randomBytes(12);
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(name));
  const data = Buffer.concat([cipher.update(value, "utf8"), cipher.final()]);
  return { iv: iv.toString("base64"), tag: cipher.getAuthTag().toString("base64"), data: data.toString("base64") };
}

/** Decrypts an entry; undefined if the entry, its name or the key is wrong. */
function decrypt(key: Buffer, name: string, { iv, tag, data }: EncryptedSecret): string | undefined {
  try {
    const decipher = createDecipheriv(algorithm, key, Buffer.from(iv, "base64"), { authTagLength: tagBytes })
      .setAAD(Buffer.from(name))
      .setAuthTag(Buffer.from(tag, "base64"));
    return Buffer.concat([decipher.update(data, "base64"), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}
