/** Gives out tokens that still work: refreshed ahead of their end, once, however many calls and processes need them. */

import type { Clock } from "../../clock.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Credentials, StoredTokens } from "../store/credentials.ts";
import { createSignInLock, isBusy } from "../store/sign-in-lock.ts";
import type { MCPOAuthTokenStorage } from "../store/token-storage.ts";
import { notFinished, refreshTokens } from "./refresh-outcome.ts";
import { createRefreshPauses } from "./refresh-pauses.ts";

export interface TokenKeeper {
  /** Refreshed if it ends soon. Undefined: nobody has signed in. If that fails, the token there is: whether it still works is for the server to say. */
  readonly current: (serverUrl: string) => Promise<Credentials | undefined>;
  /** That token got a 401 (undefined: none was sent). Undefined: a person is needed. Rejects if the authorization server fails for now. */
  readonly refused: (serverUrl: string, accessToken: string | undefined) => Promise<Credentials | undefined>;
}

export interface TokenKeeperOptions {
  readonly storage: MCPOAuthTokenStorage;
  readonly lockFolder: string;
  /** For the endpoints of that server's issuer. Nothing may cut its requests short: a refresh that is given up half-way has perhaps spent the token. */
  readonly fetchFor: (serverUrl: string) => Fetch;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
}

/** How far two honest clocks may be apart. */
const skew = 60_000;
/** On top of that, by chance: of many processes one comes first, and the others find what it stored. */
const spread = 240_000;
/** For a new token while the old one is still good; then that one is used, and the new one comes when it comes. */
const aheadPatience = 2_000;

interface Refreshable {
  readonly kind: "refreshable";
  readonly credentials: Credentials;
  readonly refreshToken: string;
}

type Found = Refreshable | { readonly kind: "usable"; readonly credentials: Credentials } | { readonly kind: "none" };

export function createTokenKeeper(options: TokenKeeperOptions): TokenKeeper {
  const { storage, lockFolder, fetchFor, clock, now, random } = options;
  const ahead = skew + spread * random();
  const flights = new Map<string, Promise<Credentials | undefined>>();
  const lock = createSignInLock(lockFolder);
  const pauses = createRefreshPauses({ folder: lockFolder, now, random });
  /** Renewed, but the store could not be written: the old refresh token is of no use any more. */
  const unsaved = new Map<string, Credentials>();

  const endsSoon = ({ expiresAt, obtainedAt }: StoredTokens): boolean =>
    // A token that lives for a minute is not refreshed all the time.
    expiresAt !== undefined && now() >= expiresAt - Math.min(ahead, (expiresAt - obtainedAt) / 2);

  const isOver = ({ expiresAt }: StoredTokens): boolean => expiresAt !== undefined && now() >= expiresAt;

  /** What is stored: worth a try in the place of that token, or only after a refresh, or not at all. */
  async function look(serverUrl: string, stale: string | undefined): Promise<Found> {
    const credentials = await storage.getCredentials(serverUrl);
    const tokens = credentials?.tokens;
    if (credentials === undefined || tokens === undefined) return { kind: "none" };
    const isOther = tokens.accessToken !== stale;
    if (isOther && !endsSoon(tokens)) return { kind: "usable", credentials };
    if (tokens.refreshToken !== undefined)
      return { kind: "refreshable", credentials, refreshToken: tokens.refreshToken };
    return isOther ? { kind: "usable", credentials } : { kind: "none" };
  }

  /** All who find the same token stale wait for the same answer. */
  function replace(serverUrl: string, stale: string | undefined, patience?: number): Promise<Credentials | undefined> {
    const key = JSON.stringify([serverUrl, stale, patience]);
    const flight = flights.get(key) ?? find(serverUrl, stale, patience).finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  }

  async function find(
    serverUrl: string,
    stale: string | undefined,
    patience: number | undefined,
  ): Promise<Credentials | undefined> {
    const found = await look(serverUrl, stale);
    if (found.kind !== "refreshable") return usableOf(found);
    const name = await storage.nameOf(serverUrl);
    await throwWhilePaused(name);
    const work = async (): Promise<Credentials | undefined> => {
      // Whoever had the lock before has perhaps done it, or found out that it cannot be done now.
      const foundNow = await look(serverUrl, stale);
      if (foundNow.kind !== "refreshable") return usableOf(foundNow);
      await throwWhilePaused(name);
      return refresh(name, serverUrl, foundNow);
    };
    return lock(name, work, patience).catch((error: unknown) => {
      throw isBusy(error) ? notFinished(found.credentials, error) : error;
    });
  }

  async function throwWhilePaused(name: string): Promise<void> {
    const error = await pauses.errorOf(name);
    if (error !== undefined) throw error;
  }

  async function refresh(name: string, serverUrl: string, found: Refreshable): Promise<Credentials | undefined> {
    const { credentials, refreshToken } = found;
    const begun = clock.now();
    const waiting = unsaved.get(refreshToken);
    const outcome =
      waiting === undefined
        ? await refreshTokens({ credentials, refreshToken, fetch: fetchFor(serverUrl), now })
        : ({ kind: "renewed", credentials: waiting } as const);
    if (outcome.kind === "failed") {
      await pauses.begin(name, outcome.error, clock.now() - begun);
      throw outcome.error;
    }
    await pauses.end(name);
    // Somebody who did not get the lock in time may have signed in or out meanwhile: that counts, and what we got does not.
    const stored = await storage.getCredentials(serverUrl);
    if (stored?.tokens?.refreshToken !== refreshToken) return stored?.tokens === undefined ? undefined : stored;
    if (outcome.kind === "renewed") unsaved.set(refreshToken, outcome.credentials);
    // Before anyone uses it: a token that only this process knows is lost with this process.
    await storage.saveCredentials(outcome.credentials);
    unsaved.delete(refreshToken);
    return outcome.kind === "renewed" ? outcome.credentials : undefined;
  }

  /** Undefined: it takes too long, and goes on without us. */
  function inTime<T>(work: Promise<T>): Promise<T | undefined> {
    let callOff = (): void => {};
    const late = new Promise<undefined>((resolve) => {
      callOff = clock.after(aheadPatience, () => resolve(undefined), { background: true });
    });
    return Promise.race([work, late]).finally(() => callOff());
  }

  return {
    async current(serverUrl) {
      const known = storage.lastKnown(serverUrl);
      const credentials = known?.tokens === undefined ? await storage.getCredentials(serverUrl) : known;
      if (credentials?.tokens === undefined || !endsSoon(credentials.tokens)) return credentials;
      const { accessToken } = credentials.tokens;
      // While another process renews it, a token that is still good is good enough.
      const renewal = isOver(credentials.tokens)
        ? replace(serverUrl, accessToken)
        : inTime(replace(serverUrl, accessToken, 0));
      return (await renewal.catch(() => undefined)) ?? storage.lastKnown(serverUrl);
    },
    refused: (serverUrl, accessToken) => replace(serverUrl, accessToken),
  };
}

function usableOf(found: Exclude<Found, Refreshable>): Credentials | undefined {
  return found.kind === "usable" ? found.credentials : undefined;
}
