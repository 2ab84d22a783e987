/** Gives a server's requests their token, and lets a refused one go on once there is another. */

import type { AuthHook, Challenge } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { toShellWord } from "../text/shell-word.ts";
import { type BearerChallenge, readChallenge } from "./oauth/challenge.ts";
import { authCommand } from "./oauth/failure.ts";
import type { TokenKeeper } from "./oauth/refresh.ts";
import { includesAll, mergeScopes, scopesIn } from "./oauth/scopes.ts";
import type { Credentials } from "./store/credentials.ts";
import { createSharedWork } from "./store/shared-work.ts";

export interface AuthHookOptions {
  readonly serverName: string;
  readonly serverUrl: string;
  /** Whether something may be stored for it; asked before anything else is loaded. */
  readonly hasCredentials: () => Promise<boolean>;
  readonly keeper: () => Promise<TokenKeeper>;
  /** Absent: nobody can be asked. */
  readonly signIn?: ((request: SignInRequest, signal: AbortSignal) => Promise<Credentials>) | undefined;
  /** What is stored is not used: somebody wants to sign in again. */
  readonly isForced?: boolean;
}

export interface SignInRequest {
  readonly challenge: BearerChallenge;
  /** Where the server was reached, if that is known. */
  readonly address?: string;
  /** What was asked for before, and is not enough. */
  readonly before?: readonly string[];
}

/** For one request, after which it is refused for good. */
const mostStepUps = 2;
/** Refusals of one request that another token may help against; then a person is asked. */
const mostRenewals = 2;

export function createAuthHook(options: AuthHookOptions): AuthHook {
  const { serverName, serverUrl, hasCredentials, keeper, signIn, isForced = false } = options;
  const { origin } = new URL(serverUrl);
  const shared = createSharedWork<Credentials>();
  /** What is stored counts; until something is, nobody looks twice. */
  let isStored: Promise<boolean> | undefined = isForced ? Promise.resolve(false) : undefined;
  let latest: string | undefined;
  /** Whether somebody has signed in since a request was refused for the first time. */
  let hasAsked = false;
  let stepUps = 0;

  async function current(): Promise<Credentials | undefined> {
    isStored ??= hasCredentials();
    return (await isStored) ? (await keeper()).current(serverUrl) : undefined;
  }

  async function ask(request: SignInRequest, signal: AbortSignal): Promise<boolean> {
    // Whoever sent the request says then that somebody has to sign in.
    if (signIn === undefined) return false;
    const { tokens } = await shared.join((ending) => signIn(request, ending), signal);
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

  async function unauthorized(refusal: Challenge, signal: AbortSignal): Promise<boolean> {
    const sent = tokenIn(refusal);
    // It did not help to sign in, so it will not help to sign in once more.
    if (refusal.attempt > 0 && sent !== undefined && (sent === latest || hasAsked)) throw neverEnough(serverName);
    if (refusal.attempt === 0) hasAsked = false;
    if (refusal.attempt < mostRenewals && (await renew(sent))) return true;
    return ask(signInRequestFrom(refusal), signal);
  }

  async function forbidden(refusal: Challenge, signal: AbortSignal): Promise<boolean> {
    const request = signInRequestFrom(refusal);
    const { challenge } = request;
    if (challenge.error !== "insufficient_scope") return false;
    const credentials = await current();
    const { tokens, scopes = [] } = credentials ?? {};
    // Somebody else has been given more since.
    if (tokens !== undefined && tokens.accessToken !== tokenIn(refusal)) return true;
    const before = mergeScopes(scopes, scopesIn(tokens?.scope));
    const wanted = scopesIn(challenge.scope);
    if (refusal.attempt === 0) stepUps = 0;
    if (stepUps === mostStepUps || includesAll(before, wanted)) throw notGranted(serverName, wanted);
    if (signIn === undefined) throw needsMore(serverName, wanted, before);
    stepUps += 1;
    return ask({ ...request, before }, signal);
  }

  return {
    async headers({ url }) {
      // A token is for one server, and goes nowhere else.
      if (new URL(url).origin !== origin) return {};
      const tokens = (await current())?.tokens;
      return tokens === undefined ? {} : { authorization: `Bearer ${tokens.accessToken}` };
    },
    challenged: (refusal, signal) =>
      refusal.status === 401 ? unauthorized(refusal, signal) : forbidden(refusal, signal),
  };
}

function signInRequestFrom({ wwwAuthenticate, address }: Challenge): SignInRequest {
  return { challenge: readChallenge(wwwAuthenticate), ...(address !== undefined && { address }) };
}

function tokenIn({ sent }: Challenge): string | undefined {
  return sent["authorization"]?.replace(/^Bearer /, "");
}

function needsMore(serverName: string, wanted: readonly string[], before: readonly string[]): HostError {
  return new HostError("auth_required", `"${serverName}" wants more than you have allowed: ${wanted.join(" ")}`, {
    serverName,
    next: `${authCommand(serverName)} --scopes ${toShellWord(mergeScopes(before, wanted).join(" "))}`,
  });
}

function notGranted(serverName: string, wanted: readonly string[]): HostError {
  const what = wanted.length === 0 ? "something that it does not name" : wanted.join(" ");
  return new HostError("auth_failed", `"${serverName}" wants ${what}, which signing in did not give`, {
    serverName,
    next: "Ask those who run it whether your account may do this.",
  });
}

function neverEnough(serverName: string): HostError {
  return new HostError("auth_failed", `"${serverName}" does not accept the token that it asked for`, {
    serverName,
    next: "Ask those who run it: its authorization server and it do not agree.",
  });
}
