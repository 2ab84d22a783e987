/** The sign-in of one server from challenge to stored token, step by step; every failure names its step. */

import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { Fetch } from "../net/bounded-fetch.ts";
import type { OAuthSettings } from "../settings/define/definition.ts";
import { present } from "../settings/schema/present.ts";
import { awaitAnswer } from "./browser/await-answer.ts";
import { openRedirectListener, type RedirectListener } from "./browser/redirect-listener.ts";
import type { SignInUi } from "./browser/sign-in-ui.ts";
import { askForCode, checkChallengeMethods, codeIn, randomWord } from "./oauth/authorization.ts";
import type { BearerChallenge } from "./oauth/challenge.ts";
import { exchangeCode, type TokenRequestOptions } from "./oauth/code-exchange.ts";
import { discoverSignIn, type SignInPlan } from "./oauth/discovery.ts";
import { calledOff, createFail, type Fail } from "./oauth/failure.ts";
import { askForClientId, knownClient, registerClient } from "./oauth/registration.ts";
import { includesAll, scopesIn } from "./oauth/scopes.ts";
import { otherTokenHost } from "./oauth/token-host.ts";
import { wantedScopes } from "./oauth/wanted-scopes.ts";
import { accountIn } from "./store/account.ts";
import type { Credentials, StoredClient, StoredTokens } from "./store/credentials.ts";
import { evenIfBusy, type SignInLock } from "./store/sign-in-lock.ts";
import type { MCPOAuthTokenStorage } from "./store/token-storage.ts";

export interface SignInOptions {
  readonly serverName: string;
  readonly serverUrl: string;
  readonly oauth: OAuthSettings;
  readonly challenge: BearerChallenge;
  readonly ui: SignInUi;
  /** As the entry sees it (`pinned`). */
  readonly storage: MCPOAuthTokenStorage;
  readonly lock: SignInLock;
  readonly fetch: Fetch;
  /** Follows no redirects: what it sends is secret. */
  readonly post: Fetch;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The entry came with a folder, and not from the person. */
  readonly isFromWorkspace?: boolean | undefined;
  readonly issuerOverride?: string | undefined;
  readonly clientMetadataUrl?: string | undefined;
  /** What was asked for before and turned out not to be enough. */
  readonly before?: readonly string[] | undefined;
}

/** What the steps share once it is known. */
interface Stage extends Omit<SignInOptions, "fetch"> {
  readonly plan: SignInPlan;
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  readonly stored: Credentials | undefined;
  readonly fail: Fail;
  readonly signal: AbortSignal;
}

export async function signIn(options: SignInOptions, signal: AbortSignal): Promise<Credentials> {
  try {
    return await goThrough(options, signal);
  } catch (error) {
    const isCalledOff = error instanceof HostError ? error.code === "cancelled" : signal.aborted;
    throw isCalledOff ? calledOff(options.serverName) : error;
  }
}

async function goThrough(given: SignInOptions, signal: AbortSignal): Promise<Credentials> {
  const { serverName, serverUrl, oauth, ui, storage, before } = given;
  const fail = createFail(serverName);
  const fetch = stoppable(given.fetch, signal);
  const options = { ...given, fetch, post: stoppable(given.post, signal) };
  const stored = await storage.getCredentials(serverUrl);
  const plan = await discoverSignIn({
    ...options,
    fail,
    onOverride: (issuer, instead) => ui.show({ kind: "issuer_override", issuer, instead }),
    choose: async (issuers) => chooseIssuer(issuers, stored, ui, signal),
  });
  const scopes = wantedScopes({ plan, chosen: ui.scopes ?? oauth.scopes, before });
  const stage: Stage = { ...options, plan, scopes, stored, fail, signal, audiences: oauth.audiences ?? [] };
  const { client, tokens } = ui.device === true ? await byDevice(stage) : await byBrowser(stage);
  signal.throwIfAborted();
  const credentials = toCredentials(stage, client, tokens);
  const name = await storage.nameOf(serverUrl);
  await evenIfBusy(given.lock, name, () => storage.saveCredentials(credentials));
  tellOutcome(credentials, scopes, ui);
  return credentials;
}

/** One that was chosen before needs no question. */
async function chooseIssuer(
  issuers: readonly string[],
  stored: Credentials | undefined,
  { chooseIssuer: ask }: SignInUi,
  signal: AbortSignal,
): Promise<string> {
  if (stored !== undefined && issuers.includes(stored.issuer)) return stored.issuer;
  const chosen = await ask?.(issuers, signal);
  return issuers.find((issuer) => issuer === chosen) ?? issuers[0] ?? "";
}

interface Outcome {
  readonly client: StoredClient;
  readonly tokens: StoredTokens;
}

async function byDevice(stage: Stage): Promise<Outcome> {
  const { signInByDevice } = await import("./oauth/device.ts");
  const { ui } = stage;
  const known = knownClientOf(stage);
  const client = known ?? (await newClient(stage, "http://127.0.0.1/oauth/callback"));
  const tokens = await signInByDevice({ ...stage, client, show: ui.show });
  return { client, tokens };
}

async function byBrowser(stage: Stage): Promise<Outcome> {
  checkChallengeMethods(stage.plan, stage.fail);
  const known = knownClientOf(stage);
  const first = await tryBrowser(stage, known);
  if (first !== "invalid_client") return first;
  // It was registered once, and forgotten there since.
  const isRegistered = known?.redirectUri !== undefined;
  const second = isRegistered ? await tryBrowser(stage, undefined) : first;
  if (second !== "invalid_client") return second;
  throw stage.fail("the token request", `${stage.plan.issuer} does not know us (invalid_client)`, {
    next: `Check "clientId" and "clientSecret" under "oauth" in the entry of "${stage.serverName}".`,
  });
}

/** Listening begins before anything is asked for, and ends whatever happens. */
async function tryBrowser(stage: Stage, known: StoredClient | undefined): Promise<Outcome | "invalid_client"> {
  const state = randomWord();
  const listener = await openRedirectListener({ ...stage, state, client: known });
  try {
    // Somebody else listens there now: another registration is needed, for another place.
    const isUsable = known?.redirectUri === undefined || known.redirectUri === listener.redirectUri;
    const client = isUsable && known ? known : await newClient(stage, listener.redirectUri);
    return await askPerson(stage, { client, listener, state });
  } catch (error) {
    // Whether that can be noted or not, why the sign-in failed says more.
    if (known?.redirectUri !== undefined) await doubt(stage, known).catch(() => undefined);
    throw error;
  } finally {
    await listener.close();
  }
}

async function askPerson(
  stage: Stage,
  {
    client,
    listener,
    state,
  }: { readonly client: StoredClient; readonly listener: RedirectListener; readonly state: string },
): Promise<Outcome | "invalid_client"> {
  const { plan, fail } = stage;
  const { redirectUri } = listener;
  const { url, verifier } = askForCode({ ...stage, client, redirectUri, state });
  const answer = await awaitAnswer({ ...stage, url, listener, state });
  const code = codeIn(answer, plan, fail);
  const tokens = await exchangeCode({ code, verifier, redirectUri }, requestOf(stage, client));
  return tokens === "invalid_client" ? tokens : { client, tokens };
}

/** A registration that did not lead to a sign-in may be void, and the person sees only an error page: the next try makes another. */
async function doubt({ storage, lock, serverUrl }: Stage, client: StoredClient): Promise<void> {
  // Whoever renews the tokens meanwhile must find what they store there again, and not what was there before.
  await lock(await storage.nameOf(serverUrl), async () => {
    const stored = await storage.getCredentials(serverUrl);
    if (stored?.client.clientId !== client.clientId || stored.client.redirectUri !== client.redirectUri) return;
    const { redirectUri: _, ...rest } = stored.client;
    await storage.saveCredentials({ ...stored, client: rest });
  });
}

function knownClientOf({ plan, oauth, clientMetadataUrl, stored, now }: Stage): StoredClient | undefined {
  return knownClient({ plan, oauth, clientMetadataUrl, stored, now: now() });
}

async function newClient(stage: Stage, redirectUri: string): Promise<StoredClient> {
  const { plan, scopes, ui, post, fail, signal } = stage;
  const { registration: url } = plan.endpoints;
  const isDevice = ui.device === true;
  const refused = { why: `${plan.issuer} registers nobody by itself` };
  const outcome =
    url === undefined ? refused : await registerClient({ plan, url, scopes, redirectUri, isDevice, fetch: post, fail });
  return "clientId" in outcome ? outcome : askForClientId({ ...stage, redirectUri, ...outcome }, signal);
}

function requestOf({ plan, audiences, post, now, fail }: Stage, client: StoredClient): TokenRequestOptions {
  return { plan, client, audiences, post, now, fail };
}

function toCredentials(
  { serverName, serverUrl, plan, scopes, audiences }: Stage,
  client: StoredClient,
  tokens: StoredTokens,
): Credentials {
  const { authorization, token, revocation, device } = plan.endpoints;
  const account = accountIn(tokens.idToken);
  return {
    serverName,
    serverUrl,
    resource: plan.resource,
    issuer: plan.issuer,
    ...(account !== undefined && { account }),
    client,
    // An answer without scopes means those that were asked for (RFC 6749 §5.1).
    tokens: tokens.scope === undefined && scopes.length > 0 ? { ...tokens, scope: scopes.join(" ") } : tokens,
    endpoints: {
      authorization,
      token,
      ...(revocation !== undefined && { revocation }),
      ...(device !== undefined && { device }),
    },
    scopes,
    ...(audiences.length > 0 && { audiences }),
  };
}

function tellOutcome(
  { serverName, issuer, account, tokens, endpoints }: Credentials,
  requested: readonly string[],
  { show }: SignInUi,
): void {
  const granted = scopesIn(tokens?.scope);
  const isSame = includesAll(granted, requested) && includesAll(requested, granted);
  if (granted.length > 0 && !isSame) show({ kind: "scopes_differ", requested, granted });
  const tokenHost = otherTokenHost(issuer, endpoints.token);
  show({ kind: "signed_in", serverName, issuer, scopes: granted, ...present({ account, tokenHost }) });
}

/** Whoever calls the sign-in off ends the request that is under way. */
function stoppable(fetch: Fetch, signal: AbortSignal): Fetch {
  return (url, init) => fetch(url, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal });
}
