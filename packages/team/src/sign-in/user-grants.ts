/**
 * The sign-ins of users to servers, on one replica: gives access tokens, and refreshes each of them once among all
 * replicas. Access tokens are cached, so that a call needs no query while its token is valid.
 */

import { hash } from "node:crypto";
import { HostError } from "@fairlead/core";
import {
  type Credentials,
  canonicalServerUrl,
  mergeScopes,
  readCredentials,
  refreshTokens,
  SignInNeeded,
  type SignInTarget,
  scopesIn,
  type TokenKeeper,
  type UserSignIns,
  writeCredentials,
} from "@fairlead/core/auth";
import type { Clock } from "@fairlead/core/clock";
import type { Fetch } from "@fairlead/core/connect";
import type { ClientStore } from "../store/clients.ts";
import type { Grant, GrantKey, GrantStore, NewGrant, RefreshResult } from "../store/grants.ts";
import { grantHint, type Hints } from "../store/hints.ts";
import type { Owner } from "../store/owner.ts";
import { isStoreAway } from "../store/store.ts";

export interface UserGrantsOptions {
  readonly grants: GrantStore;
  readonly clients: ClientStore;
  readonly hints: Hints;
  /** Returns the `fetch` for the authorization server of an MCP server. It must not follow redirects. */
  readonly fetchFor: (serverUrl: string) => Fetch;
  /** Where users sign in, for messages. */
  readonly next: (serverName: string) => string;
  /** The redirect URI of all sign-ins, by which registered clients are found. */
  readonly redirectUri: string;
  readonly clock: Pick<Clock, "now" | "after">;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
}

/** Maximum number of cached sign-ins. The one that was read first is forgotten. */
const mostCached = 50_000;
/** A sign-in is read again after this many milliseconds, in case a hint was lost. */
const fresh = { signedIn: 300_000, signedOut: 30_000 } as const;
/** Tokens are refreshed this many milliseconds before they expire. The random part spreads the requests to issuers. */
const ahead = { least: 60_000, spread: 240_000 } as const;
/** After a refresh that could not begin, the next one begins after this many milliseconds. */
const retryTime = 5_000;
/**
 * The most sign-ins of a replica that are refreshed, or wait for another replica's refresh, at a time. Each of them reads
 * the store again and again.
 */
const mostWaiting = 16;
/** A caller waits for a refresh at most this many milliseconds. The refresh goes on. */
const longestRefresh = 30_000;

interface CachedGrant {
  readonly grant: Grant | undefined;
  readonly credentials: Credentials | undefined;
  readonly readAt: number;
  /** Milliseconds before the expiry at which the token is refreshed. */
  readonly ahead: number;
  /** No refresh begins before this time. */
  retryAt: number;
}

export class UserGrants implements AsyncDisposable {
  readonly #options: UserGrantsOptions;
  readonly #cached = new Map<string, CachedGrant>();
  readonly #flights = new Map<string, Promise<CachedGrant>>();
  /** Sign-ins that wait until fewer than `mostWaiting` are refreshed. */
  readonly #queue: (() => void)[] = [];
  readonly #stopListening: () => void;
  #running = 0;
  #isClosed = false;

  constructor(options: UserGrantsOptions) {
    this.#options = options;
    this.#stopListening = options.hints.listen("grant", (id) => {
      if (id === undefined) this.#cached.clear();
      else this.#cached.delete(id);
    });
  }

  /** The sign-ins of one user. */
  of(owner: Owner): UserSignIns {
    return {
      keeperOf: (target) => this.#keeperOf(grantKeyOf(owner, target)),
      signInNeeded: ({ serverName }, { challenge, before = [] }) => {
        const scopes = challenge.error === "insufficient_scope" ? mergeScopes(before, scopesIn(challenge.scope)) : [];
        return new SignInNeeded(serverName, this.#options.next(serverName), scopes);
      },
    };
  }

  /** Whether a user is signed in to a server. Sends no query if that was read a short time ago. */
  async isSignedIn(owner: Owner, target: SignInTarget): Promise<boolean> {
    return isSignedIn(await this.#find(grantKeyOf(owner, target)));
  }

  /** When the issuer gave the user's present token for a server. Undefined if the user is not signed in. */
  async signedInAt(owner: Owner, target: SignInTarget): Promise<number | undefined> {
    const read = await this.#read(grantKeyOf(owner, target));
    return isSignedIn(read) ? read.credentials?.tokens?.obtainedAt : undefined;
  }

  /** Stops refreshing ahead, and waits for the refreshes under way: their issuers give the new tokens only once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    await Promise.allSettled(this.#flights.values());
  }

  #keeperOf(key: GrantKey): TokenKeeper {
    return {
      current: () => this.#current(key),
      refused: (_, accessToken) => this.#afterRefusal(key, accessToken),
    };
  }

  async #current(key: GrantKey): Promise<Credentials | undefined> {
    const cached = await this.#find(key);
    const { grant, credentials } = cached;
    if (grant === undefined || credentials?.tokens === undefined) return undefined;
    const { expiresAt, obtainedAt } = credentials.tokens;
    const now = this.#options.now();
    // If a token's lifetime is short, it is refreshed after half of that time.
    if (expiresAt === undefined || now < expiresAt - Math.min(cached.ahead, (expiresAt - obtainedAt) / 2))
      return credentials;
    const isOver = now >= expiresAt;
    if (!canRefresh(grant, credentials)) return isOver ? undefined : credentials;
    if (isOver) return usable(await this.#refresh(key, grant.generation), now);
    if (now >= cached.retryAt && !this.#isClosed) {
      cached.retryAt = now + retryTime;
      void this.#refresh(key, grant.generation).catch(() => undefined);
    }
    return credentials;
  }

  /** The server does not accept this access token (401). */
  async #afterRefusal(key: GrantKey, accessToken: string | undefined): Promise<Credentials | undefined> {
    const read = await this.#read(key);
    const { grant, credentials } = read;
    if (grant === undefined || credentials?.tokens === undefined) return undefined;
    if (credentials.tokens.accessToken !== accessToken) {
      const other = usable(read, this.#options.now());
      if (other !== undefined) return other;
    }
    if (canRefresh(grant, credentials)) {
      const after = await this.#refresh(key, grant.generation);
      if (after.grant?.generation !== grant.generation) return usable(after, this.#options.now());
      if (after.grant.refusedAt === undefined) throw notRefreshed(credentials);
    }
    // Further requests must not send the refused token again.
    const id = grantHint(key);
    const cached = this.#cached.get(id);
    if (cached !== undefined) this.#cached.set(id, { ...cached, credentials: undefined });
    return undefined;
  }

  /** The cached sign-in. While the store is away, it counts as long as its token is valid. */
  async #find(key: GrantKey): Promise<CachedGrant> {
    const cached = this.#cached.get(grantHint(key));
    const now = this.#options.now();
    const life = cached?.credentials === undefined ? fresh.signedOut : fresh.signedIn;
    if (cached !== undefined && now < cached.readAt + life) return cached;
    try {
      return await this.#read(key);
    } catch (error) {
      if (!isStoreAway(error) || cached === undefined) throw error;
      return cached;
    }
  }

  async #read(key: GrantKey): Promise<CachedGrant> {
    return this.#keep(key, await this.#options.grants.read(key));
  }

  #keep(key: GrantKey, grant: Grant | undefined): CachedGrant {
    const { now, random } = this.#options;
    const id = grantHint(key);
    const credentials = grant && readCredentials(grant.secret);
    const cached = {
      grant,
      credentials,
      readAt: now(),
      ahead: ahead.least + ahead.spread * random(),
      retryAt: grant?.pauseUntil ?? 0,
    };
    this.#cached.delete(id);
    const [oldest] = this.#cached.keys();
    if (oldest !== undefined && this.#cached.size >= mostCached) this.#cached.delete(oldest);
    this.#cached.set(id, cached);
    return cached;
  }

  /** All requests of this replica that need the same new token share one refresh. */
  #refresh(key: GrantKey, stale: number): Promise<CachedGrant> {
    const id = `${grantHint(key)} ${stale}`;
    const flight = this.#flights.get(id) ?? this.#refreshOnce(key, stale).finally(() => this.#flights.delete(id));
    this.#flights.set(id, flight);
    return flight;
  }

  async #refreshOnce(key: GrantKey, stale: number): Promise<CachedGrant> {
    const { grants, clock } = this.#options;
    while (this.#running >= mostWaiting) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#running += 1;
    const late = new AbortController();
    const callOff = clock.after(longestRefresh, () => late.abort(refreshTimedOut(key.server)));
    try {
      return this.#keep(key, await grants.refresh(key, stale, (grant) => this.#ask(grant), late.signal));
    } catch (error) {
      throw isStoreAway(error) ? storeAway(key.server, error) : error;
    } finally {
      callOff();
      this.#running -= 1;
      this.#queue.shift()?.();
    }
  }

  /** Asks the issuer for new tokens. Never called twice for the same refresh token, except after an answer was lost. */
  async #ask(grant: Grant): Promise<RefreshResult> {
    const { fetchFor, now } = this.#options;
    const credentials = readCredentials(grant.secret);
    const refreshToken = credentials?.tokens?.refreshToken;
    if (credentials === undefined || refreshToken === undefined) return { kind: "refused" };
    const fetch = fetchFor(credentials.serverUrl);
    const outcome = await refreshTokens({ credentials, refreshToken, fetch, now });
    switch (outcome.kind) {
      case "renewed":
        return { kind: "refreshed", grant: toNewGrant(outcome.credentials) };
      case "over":
        if (outcome.credentials.client.expiresAt !== credentials.client.expiresAt)
          await this.#forgetClient(grant.key.tenant, credentials);
        return { kind: "refused" };
      case "failed":
        return { kind: "failed", pauseUntil: now() + (pauses.get(outcome.error.code) ?? 60_000) };
    }
  }

  /** The issuer no longer knows the client, so the next sign-in registers a new one. */
  async #forgetClient(tenant: number, { issuer, client }: Credentials): Promise<void> {
    const { clients, redirectUri } = this.#options;
    const key = { tenant, issuer, redirectUri };
    const stored = await clients.read(key).catch(() => undefined);
    if (stored?.includes(JSON.stringify(client.clientId)) === true)
      await clients.remove(key, stored).catch(() => undefined);
  }
}

/**
 * Milliseconds until the next refresh, by what went wrong. Short if the answer was lost: the issuer may accept the spent
 * token for some seconds more.
 */
const pauses: ReadonlyMap<string, number> = new Map([
  ["unreachable", 1_000],
  ["http_status", 10_000],
]);

/** A sign-in belongs to a user, a server's name, its URL, and the OAuth settings of its definition. */
export function grantKeyOf({ tenant, principal }: Owner, { serverName, serverUrl, pin }: SignInTarget): GrantKey {
  const url = canonicalServerUrl(serverUrl) ?? serverUrl;
  return { tenant, principal, server: serverName, pin: hash("sha256", JSON.stringify([url, pin ?? null])) };
}

/** Credentials as they are stored. */
export function toNewGrant(credentials: Credentials): NewGrant {
  return {
    issuer: credentials.issuer,
    secret: writeCredentials(credentials),
    ...(credentials.tokens?.expiresAt !== undefined && { expiresAt: credentials.tokens.expiresAt }),
  };
}

function isSignedIn({ grant, credentials }: CachedGrant): boolean {
  return grant !== undefined && grant.refusedAt === undefined && credentials?.tokens !== undefined;
}

function canRefresh({ refusedAt }: Grant, { tokens }: Credentials): boolean {
  return refusedAt === undefined && tokens?.refreshToken !== undefined;
}

function usable({ credentials }: CachedGrant, now: number): Credentials | undefined {
  const { tokens } = credentials ?? {};
  return tokens === undefined || (tokens.expiresAt !== undefined && tokens.expiresAt <= now) ? undefined : credentials;
}

function notRefreshed({ serverName, issuer }: Credentials): HostError {
  return new HostError("unreachable", `token refresh for "${serverName}" failed: ${issuer} could not answer`, {
    serverName,
    next: "Try again later; the sign-in is kept.",
  });
}

function refreshTimedOut(serverName: string): HostError {
  return new HostError("unreachable", `token refresh for "${serverName}" timed out`, {
    serverName,
    next: "Try again later; the sign-in is kept.",
  });
}

function storeAway(serverName: string, cause: unknown): HostError {
  const message = `the token for "${serverName}" has expired, and is not refreshed while the database is away`;
  return new HostError("unreachable", message, { serverName, next: "Try again in a minute.", cause });
}
