/** Renews tokens with their refresh token, which may be used only once. */

import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Credentials } from "../store/credentials.ts";
import { createRotatedTokens } from "../store/rotated-tokens.ts";
import { refreshTokens } from "./refresh-outcome.ts";
import { createKeeper, type Renewal, type RenewalOptions, type TokenKeeper } from "./token-keeper.ts";

export interface TokenKeeperOptions extends RenewalOptions {
  /**
   * The `fetch` for the issuer of a server. It must not be aborted: an aborted refresh may have used up the refresh
   * token.
   */
  readonly fetchFor: (serverUrl: string) => Fetch;
}

/** A keeper that renews tokens with their refresh token. */
export function createTokenKeeper(options: TokenKeeperOptions): TokenKeeper {
  return createKeeper(createRefreshRenewal(options), options);
}

function createRefreshRenewal({ storage, lockFolder, fetchFor, now }: TokenKeeperOptions): Renewal {
  const rotated = createRotatedTokens(lockFolder);
  /** Refreshed tokens that could not be stored, by the old refresh token, which is used up. */
  const unsaved = new Map<string, Credentials>();
  return {
    canRenew: ({ tokens }) => tokens?.refreshToken !== undefined,
    async renew(name, credentials) {
      const { serverUrl } = credentials;
      const refreshToken = credentials.tokens?.refreshToken ?? "";
      // Tokens refreshed by this process, or by one that was killed before it stored them.
      const waiting = unsaved.get(refreshToken) ?? (await rotated.read(name, refreshToken));
      const outcome =
        waiting === undefined
          ? await refreshTokens({ credentials, refreshToken, fetch: fetchFor(serverUrl), now })
          : ({ kind: "renewed", credentials: waiting } as const);
      if (outcome.kind === "failed") return outcome;
      if (outcome.kind === "renewed" && waiting === undefined) rotated.write(name, refreshToken, outcome.credentials);
      // If the person signed in or out in the meantime, without the lock, that overrides this refresh.
      const stored = await storage.getCredentials(serverUrl);
      if (stored?.tokens?.refreshToken !== refreshToken) {
        rotated.remove(name);
        return { kind: "done", credentials: stored?.tokens === undefined ? undefined : stored };
      }
      if (outcome.kind === "renewed") unsaved.set(refreshToken, outcome.credentials);
      // Stored before the first use: a token that only this process knows would be lost if it ends.
      await storage.saveCredentials(outcome.credentials);
      rotated.remove(name);
      unsaved.delete(refreshToken);
      return { kind: "done", credentials: outcome.kind === "renewed" ? outcome.credentials : undefined };
    },
  };
}
