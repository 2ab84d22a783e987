/** The bearer tokens of HTTP clients. Only a digest of each token is stored. */

import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { updateState } from "@fairlead/core/files";
import { isObject, listOf, parseObject, stringOf } from "@fairlead/wire/json";

/** What is known about a stored token. The token itself is not stored. */
export interface ClientTokenInfo {
  readonly client: string;
  /** When the token was created, in milliseconds since 1970. */
  readonly createdAt: number;
}

/** Creates, checks and revokes tokens. */
export interface ClientTokens {
  /**
   * Creates a token and returns it. It cannot be shown again. A client has at most 8 tokens: one more removes the
   * oldest.
   *
   * @throws HostError `usage` if the name is invalid or there are too many tokens
   */
  create(client: string): Promise<string>;
  /**
   * Returns the client of a token, or undefined if the token is not valid. Takes the same time for valid and invalid
   * tokens, so that an attacker cannot guess a token by measuring the time.
   */
  clientOf(token: string): string | undefined;
  /** Revokes all tokens of a client. Returns the number of revoked tokens. */
  revoke(client: string): Promise<number>;
  list(): Promise<readonly ClientTokenInfo[]>;
}

interface StoredToken extends ClientTokenInfo {
  readonly digest: string;
}

interface StoredTokens {
  readonly v: 1;
  readonly tokens: readonly StoredToken[];
}

const mostOfClient = 8;
const mostTokens = 256;
const mostName = 100;

/** Opens the file of tokens in the state folder (`~/.fairlead`). Other processes may change the file at any time. */
export function createClientTokens(stateFolder: string, now: () => number = Date.now): ClientTokens {
  const file = join(stateFolder, "client-tokens.json");
  let read: { readonly version: string; readonly tokens: readonly StoredToken[] } = { version: "", tokens: [] };

  /** Reads the file again if it has changed. */
  function current(): readonly StoredToken[] {
    const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
    const version = stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
    if (version !== read.version)
      read = { version, tokens: version === "" ? [] : (parse(parseObject(readFileSync(file, "utf8")))?.tokens ?? []) };
    return read.tokens;
  }

  async function change(next: (tokens: readonly StoredToken[]) => readonly StoredToken[]): Promise<void> {
    await updateState<StoredTokens>(file, parse, (stored) => ({ v: 1, tokens: next(stored?.tokens ?? []) }));
  }

  return {
    async create(client) {
      if (client === "" || client.length > mostName)
        throw new HostError("usage", `the client's name must have 1 to ${mostName} characters`);
      const token = randomBytes(32).toString("base64url");
      const made = { client, createdAt: now(), digest: hash("sha256", token) };
      await change((tokens) => {
        const own = tokens.filter((each) => each.client === client).slice(1 - mostOfClient);
        const others = tokens.filter((each) => each.client !== client);
        if (others.length + own.length >= mostTokens)
          throw new HostError("usage", `there are already ${mostTokens} tokens, which is the maximum`, {
            next: "revoke tokens of clients that you no longer use: fairlead disconnect CLIENT",
          });
        return [...others, ...own, made];
      });
      return token;
    },
    clientOf(token) {
      const given = Buffer.from(hash("sha256", token), "hex");
      let found: string | undefined;
      // No early exit, so that the loop takes the same time for each token.
      for (const { client, digest } of current()) {
        const stored = Buffer.from(digest, "hex");
        if (stored.length === given.length && timingSafeEqual(stored, given)) found = client;
      }
      return found;
    },
    async revoke(client) {
      let revoked = 0;
      await change((tokens) => {
        const kept = tokens.filter((each) => each.client !== client);
        revoked = tokens.length - kept.length;
        return kept;
      });
      return revoked;
    },
    list: async () => current().map(({ client, createdAt }) => ({ client, createdAt })),
  };
}

function parse(value: unknown): StoredTokens | undefined {
  if (!isObject(value) || value["v"] !== 1) return undefined;
  const tokens = listOf(value["tokens"]).flatMap((each) => {
    if (!isObject(each)) return [];
    const [client, digest] = [stringOf(each["client"]), stringOf(each["digest"])];
    const { createdAt } = each;
    if (client === undefined || digest === undefined || typeof createdAt !== "number") return [];
    return /^[0-9a-f]{64}$/.test(digest) ? [{ client, digest, createdAt }] : [];
  });
  return { v: 1, tokens };
}
