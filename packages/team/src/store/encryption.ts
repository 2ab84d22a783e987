/**
 * Encrypts texts with AES-256-GCM. What an encrypted value belongs to is bound to it (`bound`), so that it opens only there:
 * the ciphertext of another row, user or request is refused.
 */

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { EncryptionPurpose, KeyRing, PurposeKey } from "./key-ring.ts";

/** What an encrypted value belongs to: for a row its table, its primary key and its principal. */
export type Bound = readonly (string | number)[];

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
const tokenPrefix = "k2.";
/** Longest token that is opened, in characters. A request's state travels in it. */
const longestToken = 24_576;

/** Encrypts a value of a row. The id of its key is in it, so that a rotation can find what still needs an old key. */
export function encryptRow(ring: KeyRing, bound: Bound, text: string): Buffer {
  const [first] = ring.keysFor("store");
  const id = Buffer.from(first.id);
  return Buffer.concat([Buffer.from([id.length]), id, encryptWith(first, bound, text)]);
}

/** Opens a value of a row. Undefined if it belongs to another row, was changed, or its key is not in the ring. */
export function decryptRow(ring: KeyRing, bound: Bound, encrypted: Buffer): string | undefined {
  const end = 1 + (encrypted[0] ?? 0);
  const id = encrypted.toString("utf8", 1, end);
  const key = ring.keysFor("store").find((each) => each.id === id);
  return key && decryptWith(key, bound, encrypted.subarray(end));
}

/** Encrypts a text into a token for a client: `k2.` and base64url. It does not say which key encrypted it. */
export function encryptToken(ring: KeyRing, purpose: EncryptionPurpose, bound: Bound, text: string): string {
  return `${tokenPrefix}${encryptWith(ring.keysFor(purpose)[0], bound, text).toString("base64url")}`;
}

/** Opens a token with any key of the ring. Undefined if it is for something else, was changed, or is no token. */
export function decryptToken(
  ring: KeyRing,
  purpose: EncryptionPurpose,
  bound: Bound,
  token: string,
): string | undefined {
  if (token.length > longestToken || !/^k2\.[A-Za-z0-9_-]+$/.test(token)) return undefined;
  const encrypted = Buffer.from(token.slice(tokenPrefix.length), "base64url");
  for (const key of ring.keysFor(purpose)) {
    const text = decryptWith(key, bound, encrypted);
    if (text !== undefined) return text;
  }
  return undefined;
}

function encryptWith({ key }: PurposeKey, bound: Bound, text: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(boundBytes(bound));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

function decryptWith({ key }: PurposeKey, bound: Bound, encrypted: Buffer): string | undefined {
  if (encrypted.length < nonceBytes + tagBytes) return undefined;
  const nonce = encrypted.subarray(0, nonceBytes);
  const tag = encrypted.subarray(nonceBytes, nonceBytes + tagBytes);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(boundBytes(bound)).setAuthTag(tag);
  const body = encrypted.subarray(nonceBytes + tagBytes);
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

/** JSON keeps the parts apart: `["a", "bc"]` and `["ab", "c"]` are different. */
function boundBytes(bound: Bound): Buffer {
  return Buffer.from(JSON.stringify(bound));
}
