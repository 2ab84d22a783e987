/** Returns valid tokens, and renews them before they expire. All requests and processes share one renewal. */

import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { Credentials, StoredTokens } from "../store/credentials.ts";
import { createSignInLock, isBusy } from "../store/sign-in-lock.ts";
import type { MCPOAuthTokenStorage } from "../store/token-storage.ts";
import { createRefreshPauses } from "./refresh-pauses.ts";

/** Returns the tokens of a server, and renews them when needed. */
export interface TokenKeeper {
  /**
   * Returns the credentials, renewed if they expire soon. Undefined or without tokens if the person has not signed in.
   * If the renewal fails, returns the old ones, which the server may still accept.
   */
  readonly current: (serverUrl: string) => Promise<Credentials | undefined>;
  /**
   * Returns new credentials after the server refused `accessToken` (401). Undefined if the person must sign in. Rejects
   * if the renewal fails for now.
   */
  readonly refused: (serverUrl: string, accessToken: string | undefined) => Promise<Credentials | undefined>;
}

/** Renews stored credentials without asking a person. */
export interface Renewal {
  readonly canRenew: (credentials: Credentials) => boolean;
  /** Gets new tokens and stores them. The caller holds the lock for `name`. */
  readonly renew: (name: string, credentials: Credentials) => Promise<RenewalOutcome>;
}

/** The result of one renewal. */
export type RenewalOutcome =
  /** `credentials` are undefined if the person must sign in. */
  | { readonly kind: "done"; readonly credentials: Credentials | undefined }
  /** The renewal failed for now. The stored tokens are kept. */
  | { readonly kind: "failed"; readonly error: HostError };

/** Where tokens are stored and locked, and the clocks. */
export interface RenewalOptions {
  readonly storage: MCPOAuthTokenStorage;
  readonly lockFolder: string;
  readonly clock: Clock;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
}

/** Tokens are renewed this many milliseconds before they expire, because this machine's clock may be wrong. */
const skew = 60_000;
/**
 * Each process renews earlier by a random time, at most this many milliseconds. So one process comes first, and the
 * others find its new token.
 */
const spread = 240_000;
/** While the current token is valid, Fairlead waits at most this many milliseconds for a new one. */
const aheadTimeout = 2_000;

/** Stored credentials with tokens. `needsRenewal`: the tokens must be renewed before a request can use them. */
interface Found {
  readonly credentials: Credentials;
  readonly needsRenewal: boolean;
}

/** Creates a `TokenKeeper` that renews with `renewal`, one process at a time. */
export function createKeeper(renewal: Renewal, options: RenewalOptions): TokenKeeper {
  const { storage, lockFolder, clock, now, random } = options;
  const ahead = skew + spread * random();
  const flights = new Map<string, Promise<Credentials | undefined>>();
  const lock = createSignInLock(lockFolder);
  const pauses = createRefreshPauses(lockFolder, now, random);

  const endsSoon = ({ expiresAt, obtainedAt }: StoredTokens): boolean =>
    // If a token's lifetime is short, it is renewed after half of that time.
    expiresAt !== undefined && now() >= expiresAt - Math.min(ahead, (expiresAt - obtainedAt) / 2);

  const isOver = ({ expiresAt }: StoredTokens): boolean => expiresAt !== undefined && now() >= expiresAt;

  /** Looks for a token to use instead of `stale`: one that another process stored, or one after a renewal. */
  async function look(serverUrl: string, stale: string | undefined): Promise<Found | undefined> {
    const credentials = await storage.getCredentials(serverUrl);
    if (credentials?.tokens === undefined) return undefined;
    const isOther = credentials.tokens.accessToken !== stale;
    if (isOther && !endsSoon(credentials.tokens)) return { credentials, needsRenewal: false };
    if (renewal.canRenew(credentials)) return { credentials, needsRenewal: true };
    return isOther ? { credentials, needsRenewal: false } : undefined;
  }

  /** Renews the token `stale`. All requests that used it share one renewal. */
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
    if (found?.needsRenewal !== true) return found?.credentials;
    const name = await storage.nameOf(serverUrl);
    await throwWhilePaused(name);
    const work = async (): Promise<Credentials | undefined> => {
      // While this process waited for the lock, another process may have renewed the token, or failed to.
      const foundNow = await look(serverUrl, stale);
      if (foundNow?.needsRenewal !== true) return foundNow?.credentials;
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

  /** Returns undefined if `work` takes too long. `work` goes on in the background. */
  function inTime<T>(work: Promise<T>): Promise<T | undefined> {
    let cancelTimer = (): void => {};
    const late = new Promise<undefined>((resolve) => {
      cancelTimer = clock.after(aheadTimeout, () => resolve(undefined), { background: true });
    });
    return Promise.race([work, late]).finally(() => cancelTimer());
  }

  return {
    async current(serverUrl) {
      const lastCredentials = storage.lastKnown(serverUrl);
      const credentials =
        lastCredentials?.tokens === undefined ? await storage.getCredentials(serverUrl) : lastCredentials;
      if (credentials?.tokens === undefined || !endsSoon(credentials.tokens)) return credentials;
      const { accessToken } = credentials.tokens;
      // The token is still valid, so this process does not wait for another process that renews it (timeout 0).
      const renewed = isOver(credentials.tokens)
        ? replace(serverUrl, accessToken)
        : inTime(replace(serverUrl, accessToken, 0));
      return (await renewed.catch(() => undefined)) ?? storage.lastKnown(serverUrl);
    },
    refused: (serverUrl, accessToken) => replace(serverUrl, accessToken),
  };
}

/** Returns the error for a refresh in another process that takes too long. */
export function notFinished({ serverName, issuer }: Credentials, cause: unknown): HostError {
  const message = `token refresh for "${serverName}" timed out: another process still waits for ${issuer}`;
  return new HostError("unreachable", message, { serverName, next: "Try again later; the sign-in is kept.", cause });
}
