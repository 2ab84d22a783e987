/**
 * Files with new tokens that are not yet in the secret store. Without them, a process that is killed too early would
 * lose the sign-in.
 */

import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { privateFileMode } from "../../files/atomic/private-folder.ts";
import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import type { Credentials } from "./credentials.ts";
import { readCredentials, writeCredentials } from "./stored-credentials.ts";

/** Reads and writes these files. There is at most one for each stored sign-in. */
export interface RotatedTokens {
  /** Writes the file synchronously. A failure is ignored, because the tokens also go to the secret store. */
  write(name: string, refreshToken: string, credentials: Credentials): void;
  /** Returns the credentials that this refresh token was exchanged for. Undefined if there is no such file. */
  read(name: string, refreshToken: string): Promise<Credentials | undefined>;
  remove(name: string): void;
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Creates the functions for one folder.
 *
 * @param folder The folder for the files. It must exist.
 */
export function createRotatedTokens(folder: string): RotatedTokens {
  const fileOf = (name: string): string => join(folder, `${name}.rotated`);
  return {
    write(name, refreshToken, credentials) {
      try {
        writeFileSync(fileOf(name), `${encrypt(writeCredentials(credentials), refreshToken)}\n`, {
          mode: privateFileMode,
        });
      } catch {
        // The disk may be full. The tokens are still stored in the secret store.
      }
    },
    async read(name, refreshToken) {
      const found = await readText(fileOf(name), limits.settingsBytes);
      const text = found.kind === "text" ? decrypt(found.text, refreshToken) : undefined;
      return text === undefined ? undefined : readCredentials(text);
    },
    remove(name) {
      try {
        rmSync(fileOf(name));
      } catch {
        // Mostly there is no file. If there is one, it does no harm: only the old refresh token can decrypt it, and that
        // token is no longer stored.
      }
    },
  };
}

/** The old refresh token is the key. Only a program that could read the secret store knows it. */
function keyOf(refreshToken: string): Buffer {
  return createHash("sha256").update(`fairlead rotated tokens ${refreshToken}`).digest();
}

function encrypt(text: string, refreshToken: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(refreshToken), nonce);
  const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString("base64");
}

/** Returns undefined if the file is damaged, or if it belongs to another refresh token. */
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
