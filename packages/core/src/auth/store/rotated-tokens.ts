/**
 * Files with refreshed tokens that are not in the secret store yet. Without such a file, a process that is killed
 * before it stores the tokens would lose the sign-in.
 */

import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { privateFileMode } from "../../files/atomic/private-folder.ts";
import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import type { Credentials } from "./credentials.ts";
import { readCredentials, writeCredentials } from "./stored-credentials.ts";

/** Reads and writes the files with refreshed tokens: one file for each stored secret. */
export interface RotatedTokens {
  /** Writes the file synchronously. Ignores a failure, because the tokens are also written to the secret store. */
  write(name: string, refreshToken: string, credentials: Credentials): void;
  /** The credentials that Fairlead got with this refresh token. Undefined if there is no file. */
  read(name: string, refreshToken: string): Promise<Credentials | undefined>;
  remove(name: string): void;
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** @param folder The folder of the files. It must exist. */
export function createRotatedTokens(folder: string): RotatedTokens {
  const fileOf = (name: string): string => join(folder, `${name}.rotated`);
  return {
    write(name, refreshToken, credentials) {
      try {
        writeFileSync(fileOf(name), `${encrypt(writeCredentials(credentials), refreshToken)}\n`, {
          mode: privateFileMode,
        });
      } catch {
        // If the file cannot be written, for example on a full disk, the tokens are still stored in the secret store.
      }
    },
    async read(name, refreshToken) {
      const found = await readText(fileOf(name), limits.settingsBytes);
      const text = found.kind === "text" ? decrypt(found.text.trimEnd(), refreshToken) : undefined;
      return text === undefined ? undefined : readCredentials(text);
    },
    remove(name) {
      try {
        rmSync(fileOf(name), { force: true });
      } catch {
        /*
         * A file that cannot be removed does no harm: only the earlier refresh token can decrypt the file, and that
         * token is no longer stored.
         */
      }
    },
  };
}

/**
 * Derives the encryption key from the refresh token that was used up. Only a program that could read the secret store
 * knows this token.
 */
function keyOf(refreshToken: string): Buffer {
  return createHash("sha256").update(`fairlead rotated tokens ${refreshToken}`).digest();
}

function encrypt(text: string, refreshToken: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(refreshToken), nonce);
  const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString("base64");
}

/** Decrypts the file. Undefined if the file is damaged, or if it was encrypted with a different refresh token. */
function decrypt(note: string, refreshToken: string): string | undefined {
  const bytes = Buffer.from(note, "base64");
  const [nonce, tag] = [bytes.subarray(0, nonceBytes), bytes.subarray(nonceBytes, nonceBytes + tagBytes)];
  try {
    const decipher = createDecipheriv(algorithm, keyOf(refreshToken), nonce);
    decipher.setAuthTag(tag);
    const encrypted = bytes.subarray(nonceBytes + tagBytes);
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}
