/** Gives out valid tokens and renews them before they expire. All requests and processes share one renewal. */

import type { Clock } from "../../clock.ts";
import type { HostError } from "../../errors.ts";
import type { Credentials, StoredTokens } from "../store/credentials.ts";
import { createSignInLock, isBusy } from "../store/sign-in-lock.ts";
import type { MCPOAuthTokenStorage } from "../store/token-storage.ts";
import { notFinished } from "./refresh-outcome.ts";
import { createRefreshPauses } from "./refresh-pauses.ts";

/** Returns tokens that are still valid, and renews them when needed. */
export interface TokenKeeper {
  /**
   * The credentials, renewed if they expire soon. Undefined if the person has not signed in. If the renewal fails,
   * returns the stored credentials, which the server may still accept.
   */
  readonly current: (serverUrl: string) => Promise<Credentials | undefined>;
  /**
   * Returns new credentials after the server refused `accessToken` with 401. Undefined if the person must sign in.
   * Rejects if the renewal fails temporarily.
   */
  readonly refused: (serverUrl: string, accessToken: string | undefined) => Promise<Credentials | undefined>;
}

/** Renews stored credentials without a person. */
export interface Renewal {
  readonly canRenew: (credentials: Credentials) => boolean;
  /** Gets new tokens and stores them. Runs while this process holds the lock of the sign-in `name`. */
  readonly renew: (name: string, credentials: Credentials) => Promise<RenewalOutcome>;
}

export type RenewalOutcome =
  /** The renewal is complete. `credentials` are undefined if the person must sign in. */
  | { readonly kind: "done"; readonly credentials: Credentials | undefined }
  /** The renewal failed temporarily: the stored tokens are kept. */
  | { readonly kind: "failed"; readonly error: HostError };

export interface RenewalOptions {
  readonly storage: MCPOAuthTokenStorage;
  readonly lockFolder: string;
  readonly clock: Clock;
  /** The wall clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
}

/**
 * Tokens are renewed this many milliseconds before they expire, because the clocks of this machine and a server may
 * differ.
 */
const skew = 60_000;
/**
 * Each process subtracts a random time of up to this many milliseconds from the time of a renewal. So one process
 * renews a token first, and the other processes find the new token.
 */
const spread = 240_000;
/**
 * Milliseconds to wait for a renewal while the current token is still valid. After that time, Fairlead uses the current
 * token.
 */
const aheadTimeout = 2_000;

interface Renewable {
  readonly kind: "renewable";
  readonly credentials: Credentials;
}

type Found = Renewable | { readonly kind: "usable"; readonly credentials: Credentials } | { readonly kind: "none" };

export function createKeeper(renewal: Renewal, options: RenewalOptions): TokenKeeper {
  const { storage, lockFolder, clock, now, random } = options;
  const ahead = skew + spread * random();
  const flights = new Map<string, Promise<Credentials | undefined>>();
  const lock = createSignInLock(lockFolder);
  const pauses = createRefreshPauses({ folder: lockFolder, now, random });

  const endsSoon = ({ expiresAt, obtainedAt }: StoredTokens): boolean =>
    // A token with a short lifetime is renewed when at least half of the lifetime has passed.
    expiresAt !== undefined && now() >= expiresAt - Math.min(ahead, (expiresAt - obtainedAt) / 2);

  const isOver = ({ expiresAt }: StoredTokens): boolean => expiresAt !== undefined && now() >= expiresAt;

  /**
   * Finds out whether the stored token can replace `stale`: as it is (`usable`), after a renewal (`renewable`), or
   * never (`none`).
   */
  async function look(serverUrl: string, stale: string | undefined): Promise<Found> {
    const credentials = await storage.getCredentials(serverUrl);
    const tokens = credentials?.tokens;
    if (credentials === undefined || tokens === undefined) return { kind: "none" };
    const isOther = tokens.accessToken !== stale;
    if (isOther && !endsSoon(tokens)) return { kind: "usable", credentials };
    if (renewal.canRenew(credentials)) return { kind: "renewable", credentials };
    return isOther ? { kind: "usable", credentials } : { kind: "none" };
  }

  /** Renews the token `stale`. Requests that were sent with this token share one renewal. */
  function replace(serverUrl: string, stale: string | undefined, timeout?: number): Promise<Credentials | undefined> {
    const key = JSON.stringify([serverUrl, stale, timeout]);
    const flight = flights.get(key) ?? find(serverUrl, stale, timeout).finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  }

  async function find(
    serverUrl: string,
    stale: string | undefined,
    timeout: number | undefined,
  ): Promise<Credentials | undefined> {
    const found = await look(serverUrl, stale);
    if (found.kind !== "renewable") return usableOf(found);
    const name = await storage.nameOf(serverUrl);
    await throwWhilePaused(name);
    const work = async (): Promise<Credentials | undefined> => {
      // Another process may have held the lock and renewed the token, or failed to renew it.
      const foundNow = await look(serverUrl, stale);
      if (foundNow.kind !== "renewable") return usableOf(foundNow);
      await throwWhilePaused(name);
      return renew(name, foundNow.credentials);
    };
    return lock(name, work, timeout).catch((error: unknown) => {
      throw isBusy(error) ? notFinished(found.credentials, error) : error;
    });
  }

  async function throwWhilePaused(name: string): Promise<void> {
    const error = await pauses.errorOf(name);
    if (error !== undefined) throw error;
  }

  async function renew(name: string, credentials: Credentials): Promise<Credentials | undefined> {
    const begun = clock.now();
    const outcome = await renewal.renew(name, credentials);
    if (outcome.kind === "failed") {
      await pauses.begin(name, outcome.error, clock.now() - begun);
      throw outcome.error;
    }
    await pauses.end(name);
    return outcome.credentials;
  }

  /**
   * Waits a limited time for `work`. If `work` takes longer, returns undefined, and `work` continues in the background.
   */
  function inTime<T>(work: Promise<T>): Promise<T | undefined> {
    let cancelTimer = (): void => {};
    const late = new Promise<undefined>((resolve) => {
      cancelTimer = clock.after(aheadTimeout, () => resolve(undefined), { background: true });
    });
    return Promise.race([work, late]).finally(() => cancelTimer());
  }

  return {
    async current(serverUrl) {
      const known = storage.lastKnown(serverUrl);
      const credentials = known?.tokens === undefined ? await storage.getCredentials(serverUrl) : known;
      if (credentials?.tokens === undefined || !endsSoon(credentials.tokens)) return credentials;
      const { accessToken } = credentials.tokens;
      // If another process is renewing a token that is still valid, this process uses that token.
      const renewed = isOver(credentials.tokens)
        ? replace(serverUrl, accessToken)
        : inTime(replace(serverUrl, accessToken, 0));
      return (await renewed.catch(() => undefined)) ?? storage.lastKnown(serverUrl);
    },
    refused: (serverUrl, accessToken) => replace(serverUrl, accessToken),
  };
}

function usableOf(found: Exclude<Found, Renewable>): Credentials | undefined {
  return found.kind === "usable" ? found.credentials : undefined;
}
