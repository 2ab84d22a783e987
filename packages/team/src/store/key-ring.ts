/**
 * The keys that all replicas share, from a file with one key a line: `ID BASE64`. The first key encrypts, every key
 * opens. To rotate: add a key at the end until all replicas have it, move it to the top, wait until everything encrypted with
 * the old key is expired or encrypted again, remove the old key.
 */

import { createHmac, hkdfSync } from "node:crypto";
import { HostError } from "@fairlead/core";

/** What an encrypted value is for. Each purpose has keys of its own, so a value of one purpose never opens as another. */
export type EncryptionPurpose = "request-state" | "session" | "oauth-state" | "connect" | "store";

/** A key of the ring for one purpose. */
export interface PurposeKey {
  readonly id: string;
  readonly key: Buffer;
}

const keyBytes = 32;
const keyLine = /^(?<id>[A-Za-z0-9_-]{1,32})\s+(?<key>[A-Za-z0-9+/]{43}=)$/;
/** A ring with more keys is a mistake: every key is tried for a token. */
const mostKeys = 16;

interface RootKey {
  readonly id: string;
  readonly root: Buffer;
}

export class KeyRing {
  readonly #roots: readonly RootKey[];
  readonly #derived = new Map<string, readonly PurposeKey[]>();

  private constructor(roots: readonly RootKey[]) {
    this.#roots = roots;
  }

  /**
   * Reads the lines of a key file. Empty lines and lines that begin with `#` are left out.
   *
   * @param source What messages call the text, such as the path of its file. Messages never contain the text.
   * @throws HostError `settings_invalid`
   */
  static parse(text: string, source: string): KeyRing {
    const roots: RootKey[] = [];
    for (const [at, line] of text.split("\n").entries()) {
      const trimmed = line.trim();
      if (trimmed === "" || trimmed.startsWith("#")) continue;
      const { id, key } = keyLine.exec(trimmed)?.groups ?? {};
      if (id === undefined || key === undefined)
        throw invalid(`line ${at + 1} of ${source}`, "it is not an id and a key of 32 bytes in base64");
      const root = Buffer.from(key, "base64");
      if (root.length !== keyBytes) throw invalid(`line ${at + 1} of ${source}`, "the key has not 32 bytes");
      if (roots.some((other) => other.id === id)) throw invalid(source, `two keys have the id ${id}`);
      roots.push({ id, root });
    }
    if (roots.length === 0) throw invalid(source, "it contains no key");
    if (roots.length > mostKeys) throw invalid(source, `it contains ${roots.length} keys, at most ${mostKeys} may be`);
    return new KeyRing(roots);
  }

  /** The keys of a purpose. The first one encrypts. */
  keysFor(purpose: string): readonly [PurposeKey, ...PurposeKey[]] {
    const keys =
      this.#derived.get(purpose) ??
      this.#roots.map(({ id, root }) => ({
        id,
        key: Buffer.from(hkdfSync("sha256", root, "fairlead-team", purpose, keyBytes)),
      }));
    this.#derived.set(purpose, keys);
    const [first, ...others] = keys;
    if (first === undefined) throw new HostError("internal", "the key ring is empty");
    return [first, ...others];
  }

  /** The ids of the keys, the one that encrypts first. */
  get ids(): readonly string[] {
    return this.#roots.map(({ id }) => id);
  }

  /** A digest that cannot be guessed without the key. Equal on all replicas, until another key becomes the first. */
  digest(text: string): Buffer {
    return createHmac("sha256", this.keysFor("digest")[0].key).update(text).digest();
  }
}

function invalid(thing: string, cause: string): HostError {
  return new HostError("settings_invalid", `${thing} is invalid: ${cause}`, {
    next: 'Write one key a line, for example: echo "k1 $(openssl rand -base64 32)"',
  });
}
