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
      // The tokens may already have been refreshed but not stored: by this process, or by a process that was killed.
      const waiting = unsaved.get(refreshToken) ?? (await rotated.read(name, refreshToken));
      const outcome =
        waiting === undefined
          ? await refreshTokens({ credentials, refreshToken, fetch: fetchFor(serverUrl), now })
          : ({ kind: "renewed", credentials: waiting } as const);
      if (outcome.kind === "failed") return outcome;
      if (outcome.kind === "renewed" && waiting === undefined) rotated.write(name, refreshToken, outcome.credentials);
      /* If the person signed in or out during this refresh, the stored tokens replace the refreshed ones. */
      const stored = await storage.getCredentials(serverUrl);
      if (stored?.tokens?.refreshToken !== refreshToken) {
        rotated.remove(name);
        return { kind: "done", credentials: stored?.tokens === undefined ? undefined : stored };
      }
      if (outcome.kind === "renewed") unsaved.set(refreshToken, outcome.credentials);
      /* Stores the tokens before they are used. If the process stopped before that, the tokens would be lost. */
      await storage.saveCredentials(outcome.credentials);
      rotated.remove(name);
      unsaved.delete(refreshToken);
      return { kind: "done", credentials: outcome.kind === "renewed" ? outcome.credentials : undefined };
    },
  };
}
