/** Renews tokens with their refresh token. A refresh token may work only once, so the new one must not be lost. */

import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Credentials } from "../store/credentials.ts";
import { createRotatedTokens } from "../store/rotated-tokens.ts";
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
