/** Renews tokens with their refresh token. A refresh token may work only once, so the new one must not be lost. */

import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { privateFileMode } from "../../files/atomic/private-folder.ts";
import { readText } from "../../files/read-text.ts";
import { limits } from "../../limits.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Credentials } from "../store/credentials.ts";
import { readCredentials, writeCredentials } from "../store/stored-credentials.ts";
import { createKeeper, type Renewal, type RenewalOptions, type TokenKeeper } from "./token-keeper.ts";

/** Where tokens are stored, and how to send refresh requests. */
export interface TokenKeeperOptions extends RenewalOptions {
  /**
   * Returns the `fetch` for refresh requests. A caller that aborts must not abort them, because the server may already
   * have replaced the refresh token.
   */
  readonly fetchFor: (serverUrl: string) => Fetch;
}

/** Creates the `TokenKeeper` for servers at which a person has signed in. */
export function createTokenKeeper(options: TokenKeeperOptions): TokenKeeper {
  return createKeeper(createRefreshRenewal(options), options);
}

function createRefreshRenewal({ storage, lockFolder, fetchFor, now }: TokenKeeperOptions): Renewal {
  const rotated = createRotatedTokens(lockFolder);
  /** New tokens that could not be stored. The key is the refresh token that they replace. */
  const unsaved = new Map<string, Credentials>();
  return {
    canRenew: ({ tokens }) => tokens?.refreshToken !== undefined,
    async renew(name, credentials) {
      const { serverUrl } = credentials;
      const refreshToken = credentials.tokens?.refreshToken ?? "";
      // An earlier refresh may have got tokens but failed to store them, or its process was killed.
      const waiting = unsaved.get(refreshToken) ?? (await rotated.read(name, refreshToken));
      const { refreshTokens } = await import("./refresh-outcome.ts");
      const outcome =
        waiting === undefined
          ? await refreshTokens({ credentials, refreshToken, fetch: fetchFor(serverUrl), now })
          : ({ kind: "renewed", credentials: waiting } as const);
      if (outcome.kind === "failed") return outcome;
      if (outcome.kind === "renewed" && waiting === undefined) rotated.write(name, refreshToken, outcome.credentials);
      // If the person signed in or out during this refresh, the new tokens are dropped.
      const stored = await storage.getCredentials(serverUrl);
      if (stored?.tokens?.refreshToken !== refreshToken) {
        rotated.remove(name);
        return { kind: "done", credentials: stored?.tokens === undefined ? undefined : stored };
      }
      if (outcome.kind === "renewed") unsaved.set(refreshToken, outcome.credentials);
      // Stored before any request uses them, because a killed process would lose them.
      await storage.saveCredentials(outcome.credentials);
      rotated.remove(name);
      unsaved.delete(refreshToken);
      return { kind: "done", credentials: outcome.kind === "renewed" ? outcome.credentials : undefined };
    },
  };
}

/** Reads and writes these files. There is at most one for each stored sign-in. */
interface RotatedTokens {
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
