/** The sign-ins of users to servers. */

import type { Owner } from "./owner.ts";

/** What a grant is found by. */
export interface GrantKey extends Owner {
  readonly server: string;
  /** The digest of the server definition that the person signed in to (`pinOf` in core). */
  readonly pin: string;
}

/** The stored sign-in of one user to one server. Times are in milliseconds since 1970. */
export interface Grant extends NewGrant {
  readonly key: GrantKey;
  /** Increases with every sign-in and every refresh. A write with an older generation is refused. */
  readonly generation: number;
  /** When the issuer refused the refresh token. The user must sign in again. */
  readonly refusedAt?: number;
  /** No replica asks the issuer before this time, because it could not answer. */
  readonly pauseUntil?: number;
}

export interface NewGrant {
  readonly issuer: string;
  /** The credentials as text. They are encrypted before they leave the process. */
  readonly secret: string;
  /** When the access token expires. */
  readonly expiresAt?: number;
}

/** What the issuer said to a refresh. */
export type RefreshResult =
  | { readonly kind: "refreshed"; readonly grant: NewGrant }
  /** `invalid_grant`: the refresh token is spent or revoked. It is never sent again. */
  | { readonly kind: "refused" }
  /** The issuer could not answer. The grant is kept. */
  | { readonly kind: "failed"; readonly pauseUntil: number };

export interface GrantStore {
  read(key: GrantKey): Promise<Grant | undefined>;
  /** Stores a new sign-in. It replaces an older one and clears its refusal. */
  save(key: GrantKey, grant: NewGrant): Promise<Grant>;
  /**
   * Refreshes a grant once among all replicas. `refresh` runs only if the stored generation still is `stale`, no replica
   * else refreshes it, the issuer has not refused it and it is not paused; all others wait for the result. It runs to its
   * end also if `signal` aborts, because the issuer gives a new token once. If the store is away then, storing is tried for
   * 30 s before this rejects with `unreachable`. Returns the stored grant: its generation says whether it is new.
   */
  refresh(
    key: GrantKey,
    stale: number,
    refresh: (grant: Grant) => Promise<RefreshResult>,
    signal: AbortSignal,
  ): Promise<Grant | undefined>;
  /** Returns false if there was none. */
  remove(key: GrantKey): Promise<boolean>;
  list(owner: Owner): Promise<readonly Grant[]>;
}
