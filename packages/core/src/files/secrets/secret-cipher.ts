/** Encrypts one secret with AES-256-GCM, bound to its name, so that no entry can be passed off as another. */

import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/** All in base64. */
export interface Sealed {
  readonly iv: string;
  readonly tag: string;
  readonly data: string;
}

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const tagBytes = 16;

export function createKey(): Buffer {
  return randomBytes(keyBytes);
}

export function keyFromText(text: string): Buffer | undefined {
  const key = Buffer.from(text.trim(), "base64");
  return key.length === keyBytes ? key : undefined;
}

/** An identifier of a key, to tell a wrong key from a damaged entry. */
export function keyId(key: Buffer): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 16);
}

export function seal(key: Buffer, name: string, value: string): Sealed {
  const iv = randomBytes(12);
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(name));
  const data = Buffer.concat([cipher.update(value, "utf8"), cipher.final()]);
  return { iv: iv.toString("base64"), tag: cipher.getAuthTag().toString("base64"), data: data.toString("base64") };
}

/** Decrypts an entry; undefined if the entry, its name or the key is wrong. */
export function unseal(key: Buffer, name: string, { iv, tag, data }: Sealed): string | undefined {
  try {
    const decipher = createDecipheriv(algorithm, key, Buffer.from(iv, "base64"), { authTagLength: tagBytes })
      .setAAD(Buffer.from(name))
      .setAuthTag(Buffer.from(tag, "base64"));
    return Buffer.concat([decipher.update(data, "base64"), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}
