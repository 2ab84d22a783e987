/** Renews tokens with their refresh token, which may be used only once. */

import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Credentials } from "../store/credentials.ts";
import { createRotatedTokens } from "../store/rotated-tokens.ts";
import { refreshTokens } from "./refresh-outcome.ts";
import { createKeeper, type Renewal, type RenewalOptions, type TokenKeeper } from "./token-keeper.ts";

export interface TokenKeeperOptions extends RenewalOptions {
  /**
   * The `fetch` for requests to a server's issuer. These requests must not be aborted, because an aborted refresh may
   * have used up the refresh token.
   */
  readonly fetchFor: (serverUrl: string) => Fetch;
}

/** Creates the `TokenKeeper` that renews access tokens with refresh tokens. */
export function createTokenKeeper(options: TokenKeeperOptions): TokenKeeper {
  return createKeeper(createRefreshRenewal(options), options);
}

function createRefreshRenewal({ storage, lockFolder, fetchFor, now }: TokenKeeperOptions): Renewal {
  const rotated = createRotatedTokens(lockFolder);
  /** Refreshed tokens that could not be stored. Each key is the refresh token that was used up to get them. */
  const unsaved = new Map<string, Credentials>();
  return {
    canRenew: ({ tokens }) => tokens?.refreshToken !== undefined,
    async renew(name, credentials) {
      const { serverUrl } = credentials;
      const refreshToken = credentials.tokens?.refreshToken ?? "";
      // An earlier refresh may have got tokens that were not stored, because storing failed or the process was killed.
      const waiting = unsaved.get(refreshToken) ?? (await rotated.read(name, refreshToken));
      const outcome =
        waiting === undefined
          ? await refreshTokens({ credentials, refreshToken, fetch: fetchFor(serverUrl), now })
          : ({ kind: "renewed", credentials: waiting } as const);
      if (outcome.kind === "failed") return outcome;
      if (outcome.kind === "renewed" && waiting === undefined) rotated.write(name, refreshToken, outcome.credentials);
      // If the person signed in or out during this refresh, the refreshed tokens are discarded.
      const stored = await storage.getCredentials(serverUrl);
      if (stored?.tokens?.refreshToken !== refreshToken) {
        rotated.remove(name);
        return { kind: "done", credentials: stored?.tokens === undefined ? undefined : stored };
      }
      if (outcome.kind === "renewed") unsaved.set(refreshToken, outcome.credentials);
      // Stores the new tokens before any request uses them. Otherwise a process that is killed would lose them.
      await storage.saveCredentials(outcome.credentials);
      rotated.remove(name);
      unsaved.delete(refreshToken);
      return { kind: "done", credentials: outcome.kind === "renewed" ? outcome.credentials : undefined };
    },
  };
}
