/** Gives out valid tokens: refreshes them before they expire, once for all requests and processes.  */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isObject, textIn } from "@fairlead/wire/json";
import type { Clock } from "../../clock.ts";
import { type ErrorCode, HostError } from "../../errors.ts";
import { readState, updateState } from "../../files/atomic/state-file.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Credentials, StoredTokens } from "../store/credentials.ts";
import { createRotatedTokens } from "../store/rotated-tokens.ts";
import { createSignInLock, isBusy } from "../store/sign-in-lock.ts";
import type { MCPOAuthTokenStorage } from "../store/token-storage.ts";
import { notFinished, refreshTokens } from "./refresh-outcome.ts";

/** Gives out the tokens of signed-in servers. */
export interface TokenKeeper {
  /** The credentials, refreshed if they expire soon; undefined without a sign-in. If the refresh fails, the old ones: the server decides whether they still work. */
  readonly current: (serverUrl: string) => Promise<Credentials | undefined>;
  /** Other credentials after the server refused `accessToken` with 401; undefined if the person must sign in. Rejects if the refresh fails for now. */
  readonly refused: (serverUrl: string, accessToken: string | undefined) => Promise<Credentials | undefined>;
}

export interface TokenKeeperOptions {
  readonly storage: MCPOAuthTokenStorage;
  readonly lockFolder: string;
  /** The `fetch` for the issuer of a server. It must not be aborted: an aborted refresh may have used up the refresh token. */
  readonly fetchFor: (serverUrl: string) => Fetch;
  readonly clock: Clock;
  /** The wall clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
}

/** Allowed difference between two clocks, in milliseconds. */
const skew = 60_000;
/** Maximum random extra milliseconds, so that one of many processes refreshes first and the others find its tokens. */
const spread = 240_000;
/** Milliseconds to wait for a refresh while the old token is still valid; then the old one is used. */
const aheadTimeout = 2_000;

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
  const rotated = createRotatedTokens(lockFolder);
  const pauses = createRefreshPauses({ folder: lockFolder, now, random });
  /** Refreshed tokens that could not be stored, by the old refresh token, which is used up. */
  const unsaved = new Map<string, Credentials>();

  const endsSoon = ({ expiresAt, obtainedAt }: StoredTokens): boolean =>
    // A token with a short lifetime is refreshed after half of it at the earliest.
    expiresAt !== undefined && now() >= expiresAt - Math.min(ahead, (expiresAt - obtainedAt) / 2);

  const isOver = ({ expiresAt }: StoredTokens): boolean => expiresAt !== undefined && now() >= expiresAt;

  /** Whether the stored token can replace `stale`: as it is, after a refresh, or not at all. */
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

  /** Requests with the same stale token share one refresh. */
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
    if (found.kind !== "refreshable") return usableOf(found);
    const name = await storage.nameOf(serverUrl);
    await throwWhilePaused(name);
    const work = async (): Promise<Credentials | undefined> => {
      // The process that held the lock before may have refreshed the token, or failed to.
      const foundNow = await look(serverUrl, stale);
      if (foundNow.kind !== "refreshable") return usableOf(foundNow);
      await throwWhilePaused(name);
      return refresh(name, serverUrl, foundNow);
    };
    return lock(name, work, timeout).catch((error: unknown) => {
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
    // Of this process, or of one that was killed before it stored them.
    const waiting = unsaved.get(refreshToken) ?? (await rotated.read(name, refreshToken));
    const outcome =
      waiting === undefined
        ? await refreshTokens({ credentials, refreshToken, fetch: fetchFor(serverUrl), now })
        : ({ kind: "renewed", credentials: waiting } as const);
    if (outcome.kind === "failed") {
      await pauses.begin(name, outcome.error, clock.now() - begun);
      throw outcome.error;
    }
    if (outcome.kind === "renewed" && waiting === undefined) rotated.write(name, refreshToken, outcome.credentials);
    await pauses.end(name);
    // A person who signed in or out meanwhile, without the lock, wins over this refresh.
    const stored = await storage.getCredentials(serverUrl);
    if (stored?.tokens?.refreshToken !== refreshToken) {
      rotated.remove(name);
      return stored?.tokens === undefined ? undefined : stored;
    }
    if (outcome.kind === "renewed") unsaved.set(refreshToken, outcome.credentials);
    // Stored before it is used: a token that only this process knows would be lost with it.
    await storage.saveCredentials(outcome.credentials);
    rotated.remove(name);
    unsaved.delete(refreshToken);
    return outcome.kind === "renewed" ? outcome.credentials : undefined;
  }

  /** Undefined if `work` takes too long; it continues in the background. */
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
      // A token that is still valid is used while another process refreshes it.
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

/** Pauses after failed refreshes, by the name of the stored secret. */
export interface RefreshPauses {
  /** The error of the last refresh while the pause lasts; else undefined. */
  readonly errorOf: (name: string) => Promise<HostError | undefined>;
  /** @param took Milliseconds until the failure: the pause is at least as long, so that a silent server is asked rarely. */
  readonly begin: (name: string, error: HostError, took: number) => Promise<void>;
  readonly end: (name: string) => Promise<void>;
}

interface RefreshPausesOptions {
  readonly folder: string;
  /** The wall clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
}

interface Pause {
  readonly until: number;
  readonly tries: number;
  readonly error: HostError;
}

const first = 1_000;
const longest = 60_000;
/** Error codes of a failed refresh; a file with another code is ignored. */
const codes: readonly ErrorCode[] = ["unreachable", "http_status", "auth_failed"];

/** Pauses refreshes after a failure, in all processes: a file beside the lock says until when. Pauses grow from 1 s to 60 s. */
export function createRefreshPauses({ folder, now, random }: RefreshPausesOptions): RefreshPauses {
  const own = new Map<string, Pause>();
  const fileOf = (name: string): string => join(folder, `${name}.failed.json`);

  /** The last pause, even if it has expired: the next pause is longer. */
  async function last(name: string): Promise<Pause | undefined> {
    const mine = own.get(name);
    if (mine !== undefined && now() < mine.until) return mine;
    // An unreadable file only costs one more refresh request.
    const theirs = await readState(fileOf(name), parsePause).catch(() => undefined);
    return theirs !== undefined && Math.abs(theirs.until - now()) <= longest ? theirs : mine;
  }

  return {
    async errorOf(name) {
      const pause = await last(name);
      return pause !== undefined && now() < pause.until ? pause.error : undefined;
    },
    async begin(name, error, took) {
      const tries = ((await last(name))?.tries ?? 0) + 1;
      const growing = first * 2 ** (tries - 1) * (0.5 + random() / 2);
      const pause = {
        until: now() + Math.min(Math.max(growing, took), longest * (0.5 + random() / 2)),
        tries,
        error,
      };
      own.set(name, pause);
      await updateState<object>(
        fileOf(name),
        () => ({}),
        () => noteOf(pause),
      ).catch(() => undefined);
    },
    async end(name) {
      own.delete(name);
      await rm(fileOf(name), { force: true }).catch(() => undefined);
    },
  };
}

function noteOf({ until, tries, error: { code, message, serverName, next } }: Pause): object {
  return { until, tries, code, message, serverName, next };
}

function parsePause(value: unknown): Pause | undefined {
  if (!isObject(value)) return undefined;
  const { until, tries } = value;
  const code = codes.find((one) => one === value["code"]);
  const message = textIn(value, "message");
  if (typeof until !== "number" || typeof tries !== "number" || code === undefined || message === undefined)
    return undefined;
  const [serverName, next] = [textIn(value, "serverName"), textIn(value, "next")];
  const facts = { ...(serverName !== undefined && { serverName }), ...(next !== undefined && { next }) };
  return { until, tries, error: new HostError(code, message, facts) };
}
