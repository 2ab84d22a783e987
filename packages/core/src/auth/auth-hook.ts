/** Adds the access token to a server's requests, and gets a new token when the server refuses the current one. */

import type { AuthHook, Challenge } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { toShellWord } from "../text/shell-word.ts";
import { type BearerChallenge, includesAll, mergeScopes, readChallenge, scopesIn } from "./oauth/challenge.ts";
import { createDpopProofs, type DpopProofs } from "./oauth/dpop.ts";
import { authCommand, clockLeadOf, clockProblem } from "./oauth/failure.ts";
import type { TokenKeeper } from "./oauth/token-keeper.ts";
import type { Credentials } from "./store/credentials.ts";

/** The server, its stored credentials, and how to sign in. */
export interface AuthHookOptions {
  readonly serverName: string;
  readonly serverUrl: string;
  /** Resolves with false if no credentials are stored for the server. Must not open a keychain, which is slow. */
  readonly hasCredentials: () => Promise<boolean>;
  readonly keeper: () => Promise<TokenKeeper>;
  /** Signs in and returns the new credentials. Undefined if there is no terminal to ask a person on. */
  readonly signIn?: ((request: SignInRequest, signal: AbortSignal) => Promise<Credentials>) | undefined;
  /** True if `signIn` needs no person, because this machine has its own OAuth credentials. */
  readonly isMachine?: boolean;
  /** Returns milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
  /** True if the person wants to sign in again. The hook then ignores stored credentials. */
  readonly isForced?: boolean;
  /** Records which servers require sign-in, so that `mcp list` can show it without connecting. */
  readonly need?: SignInNeed;
}

/** How to record that a server requires sign-in, or no longer does. A failure to record it does not fail a request. */
export interface SignInNeed {
  /** Records that a person must sign in. `refused` is the token that the server refused, if any. */
  readonly want: (refused: string | undefined) => Promise<void>;
  readonly forget: () => Promise<void>;
}

/** An `AuthHook`. Call `accepted` when the server has accepted its token. */
export interface ServerAuth extends AuthHook {
  readonly accepted?: () => Promise<void>;
}

/** What the server said when it refused a request, for the sign-in. */
export interface SignInRequest {
  readonly challenge: BearerChallenge;
  /** The server's IP address. Undefined if unknown. */
  readonly address?: string;
  /** The scopes of an earlier sign-in. The server says that they are not enough. */
  readonly before?: readonly string[];
}

/** One request may lead to this many sign-ins for additional scopes. */
const mostStepUps = 2;
/** One request may lead to this many token refreshes. After that, a new sign-in is necessary. */
const mostRenewals = 2;

/** Creates the hook that adds a server's token to requests, refreshes it, and signs in. */
export function createAuthHook(options: AuthHookOptions): ServerAuth {
  const { serverName, serverUrl, hasCredentials, keeper, signIn, isForced = false, need, now = Date.now } = options;
  const failures = options.isMachine === true ? machineFailures : personFailures;
  const { origin } = new URL(serverUrl);
  const join = createSharedWork<Credentials>();
  let isStored: Promise<boolean> | undefined = isForced ? Promise.resolve(false) : undefined;
  let latest: string | undefined;
  /** The DPoP key (RFC 9449) of the current tokens, and the functions that make proofs with it. */
  let dpop: { readonly key: string; readonly proofs: DpopProofs } | undefined;
  /** True if a sign-in has finished since the server first refused this request. */
  let hasAsked = false;
  let stepUps = 0;
  /** Whether the last URL belongs to this server. Cached, because most requests have the same URL. */
  let checked = { url: serverUrl, isOwn: true };

  function isOwn(url: string): boolean {
    if (url !== checked.url) checked = { url, isOwn: new URL(url).origin === origin };
    return checked.isOwn;
  }

  async function current(): Promise<Credentials | undefined> {
    isStored ??= hasCredentials();
    return (await isStored) ? (await keeper()).current(serverUrl) : undefined;
  }

  async function ask(request: SignInRequest, signal: AbortSignal): Promise<boolean> {
    // If there is no terminal to ask on, the connection fails with "requires sign-in".
    if (signIn === undefined) return false;
    const { tokens } = await join((ending) => signIn(request, ending), signal);
    isStored = Promise.resolve(true);
    latest = tokens?.accessToken;
    hasAsked = true;
    return true;
  }

  async function renew(sent: string | undefined): Promise<boolean> {
    const mayHave = isForced ? latest !== undefined : await hasCredentials();
    if (!mayHave) return false;
    isStored = Promise.resolve(true);
    return (await (await keeper()).refused(serverUrl, sent)) !== undefined;
  }

  /**
   * Stores the DPoP nonce of a response. Returns true if the request failed only because its proof did not have this
   * nonce.
   */
  function takesNonce({ headers, url, wwwAuthenticate }: Challenge): boolean {
    const nonce = headers["dpop-nonce"];
    const isNew = typeof nonce === "string" && new URL(url).origin === origin && dpop?.proofs.keepNonce(url, nonce);
    return isNew === true && (wwwAuthenticate?.includes("use_dpop_nonce") ?? false);
  }

  async function unauthorized(refusal: Challenge, signal: AbortSignal): Promise<boolean> {
    if (refusal.attempt === 0) hasAsked = false;
    if (takesNonce(refusal)) return true;
    // The server rejects the DPoP proof, not the token. A new token would not help.
    if (isProofRejected(refusal)) throw proofRejected(serverName, refusal, now());
    const sent = tokenIn(refusal);
    // The server rejects the token of a sign-in that has just finished. Another sign-in would not help.
    if (refusal.attempt > 0 && sent !== undefined && (sent === latest || hasAsked))
      throw failures.tokenRejected(serverName);
    if (refusal.attempt < mostRenewals && (await renew(sent))) return true;
    return ask(signInRequestFrom(refusal), signal);
  }

  async function forbidden(refusal: Challenge, signal: AbortSignal): Promise<boolean> {
    const request = signInRequestFrom(refusal);
    const { challenge } = request;
    if (challenge.error !== "insufficient_scope") return false;
    const credentials = await current();
    const { tokens, scopes = [] } = credentials ?? {};
    // Another request or process has already got a new token.
    if (tokens !== undefined && tokens.accessToken !== tokenIn(refusal)) return true;
    const before = mergeScopes(scopes, scopesIn(tokens?.scope));
    const wanted = scopesIn(challenge.scope);
    if (refusal.attempt === 0) stepUps = 0;
    if (stepUps === mostStepUps || includesAll(before, wanted)) throw failures.scopesNotGranted(serverName, wanted);
    if (signIn === undefined) throw scopesMissing(serverName, wanted, before);
    stepUps += 1;
    return ask({ ...request, before }, signal);
  }

  async function forgetNeed(): Promise<void> {
    await need?.forget().catch(() => undefined);
  }

  async function noteNeed(refusal: Challenge): Promise<void> {
    // A person who signs in again may still have a valid token.
    if (!isForced) await need?.want(tokenIn(refusal)).catch(() => undefined);
  }

  return {
    async headers({ url, method }): Promise<Readonly<Record<string, string>>> {
      // The token must not go to any other server.
      if (!isOwn(url)) return {};
      const { tokens, dpopKey } = (await current()) ?? {};
      if (tokens === undefined) return {};
      const { accessToken } = tokens;
      if (dpopKey === undefined) return { authorization: `Bearer ${accessToken}` };
      if (dpop?.key !== dpopKey) dpop = { key: dpopKey, proofs: createDpopProofs(dpopKey) };
      const proof = dpop.proofs.proofFor({ method, url, accessToken, now: now() });
      return { authorization: `DPoP ${accessToken}`, dpop: proof };
    },
    async challenged(refusal, signal) {
      if (refusal.status === 403) {
        const hasNewToken = await forbidden(refusal, signal);
        if (hasNewToken) await forgetNeed();
        return hasNewToken;
      }
      try {
        const hasNewToken = await unauthorized(refusal, signal);
        await (hasNewToken ? forgetNeed() : noteNeed(refusal));
        return hasNewToken;
      } catch (error) {
        if (needsPerson(error, tokenIn(refusal))) await noteNeed(refusal);
        throw error;
      }
    },
    accepted: forgetNeed,
  };
}

/** A token refresh that failed for now does not mean that the person must sign in. */
function needsPerson(error: unknown, sent: string | undefined): boolean {
  if (!(error instanceof HostError) || error.code === "cancelled") return false;
  return sent === undefined || error.code === "auth_required";
}

function signInRequestFrom({ wwwAuthenticate, address }: Challenge): SignInRequest {
  return { challenge: readChallenge(wwwAuthenticate), address };
}

/** Returns the access token of the refused request, or undefined if it had none. */
function tokenIn({ sent }: Challenge): string | undefined {
  return sent["authorization"]?.replace(/^(?:Bearer|DPoP) /, "");
}

function scopesMissing(serverName: string, wanted: readonly string[], before: readonly string[]): HostError {
  return new HostError("auth_required", `"${serverName}" needs more scopes: ${wanted.join(" ")}`, {
    serverName,
    next: `${authCommand(serverName)} --scopes ${toShellWord(mergeScopes(before, wanted).join(" "))}`,
  });
}

const personFailures = {
  scopesNotGranted: (serverName: string, wanted: readonly string[]): HostError =>
    new HostError("auth_failed", `"${serverName}" needs ${scopeWords(wanted)}, which the sign-in did not grant`, {
      serverName,
      next: "Ask the server's operator to give your account access.",
    }),
  tokenRejected: (serverName: string): HostError =>
    new HostError("auth_failed", `"${serverName}" rejected the token of a new sign-in`, {
      serverName,
      next: "Ask the server's operator why the server rejects tokens from its own authorization server.",
    }),
};

const machineFailures: typeof personFailures = {
  scopesNotGranted: (serverName, wanted) =>
    new HostError(
      "auth_failed",
      `"${serverName}" needs ${scopeWords(wanted)}, which the authorization server did not grant to this machine's OAuth client`,
      {
        serverName,
        next: "Ask the operator of the authorization server to allow these scopes for the client.",
      },
    ),
  tokenRejected: (serverName) =>
    new HostError(
      "auth_failed",
      `"${serverName}" rejected this machine's new token: the token's audience may be wrong`,
      {
        serverName,
        next: `Ask the server's operator which audience the server accepts, then set "audience" under machineAuth of "${serverName}".`,
      },
    ),
};

function isProofRejected({ sent, wwwAuthenticate }: Challenge): boolean {
  return sent["dpop"] !== undefined && readChallenge(wwwAuthenticate).error === "invalid_dpop_proof";
}

/** A DPoP proof contains the time, so the usual cause is a wrong clock. */
function proofRejected(serverName: string, { headers }: Challenge, now: number): HostError {
  const { date } = headers;
  const clock = clockProblem(clockLeadOf(typeof date === "string" ? date : undefined, now), now);
  const why = clock === undefined ? "" : `: ${clock.why}`;
  return new HostError("auth_failed", `"${serverName}" rejected a request's DPoP proof${why}`, {
    serverName,
    next: clock?.next ?? "Ask the server's operator which proofs the server accepts.",
  });
}

function scopeWords(wanted: readonly string[]): string {
  return wanted.length === 0 ? "an unnamed scope" : `the scopes ${wanted.join(" ")}`;
}

interface Running<T> {
  readonly done: Promise<T>;
  readonly stop: AbortController;
  waiting: number;
}

/** Starts `work`, or waits for the work that an earlier caller started. Rejects when `signal` is aborted. */
type JoinWork<T> = (work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Runs work once, even if several callers ask for it at the same time. Aborts it when all callers have aborted. */
export function createSharedWork<T>(): JoinWork<T> {
  let running: Running<T> | undefined;

  function start(work: (signal: AbortSignal) => Promise<T>): Running<T> {
    const stop = new AbortController();
    const begun: Running<T> = {
      stop,
      waiting: 0,
      done: work(stop.signal).finally(() => {
        if (running === begun) running = undefined;
      }),
    };
    return begun;
  }

  return async (work, signal) => {
    signal.throwIfAborted();
    running ??= start(work);
    const mine = running;
    mine.waiting += 1;
    let leave = (): void => {};
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason);
    });
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([mine.done, left]);
    } finally {
      signal.removeEventListener("abort", leave);
      mine.waiting -= 1;
      if (mine.waiting === 0) {
        mine.stop.abort();
        await Promise.allSettled([mine.done]);
      }
    }
  };
}
