/** Signs a person in to one server with OAuth, and stores the tokens. Each `auth_failed` error names the step. */

import { parseObject, textIn } from "@fairlead/wire/json";
import { generateRandomState } from "oauth4webapi";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { Fetch } from "../net/bounded-fetch.ts";
import type { OAuthSettings } from "../settings/define/definition.ts";
import { awaitAnswer } from "./browser/await-answer.ts";
import { openRedirectListener, type RedirectListener } from "./browser/callback-server.ts";
import type { SignInUi } from "./browser/sign-in-ui.ts";
import { askForCode, checkChallengeMethods, codeIn } from "./oauth/authorization.ts";
import { type BearerChallenge, includesAll, scopesIn } from "./oauth/challenge.ts";
import { discoverSignIn, otherTokenHost, type SignInPlan, wantedScopes } from "./oauth/discovery.ts";
import { createDpopProofs, type DpopProofs, newDpopKey } from "./oauth/dpop.ts";
import { createFail, type Fail, signInCancelled } from "./oauth/failure.ts";
import { askForClientId, knownClient, registerClient } from "./oauth/registration.ts";
import { exchangeCode } from "./oauth/token-request.ts";
import type { Credentials, StoredClient, StoredTokens } from "./store/credentials.ts";
import { evenIfBusy, type SignInLock } from "./store/sign-in-lock.ts";
import type { MCPOAuthTokenStorage } from "./store/token-storage.ts";

/** The server, the OAuth settings, and how to ask the person. */
export interface SignInOptions {
  readonly serverName: string;
  readonly serverUrl: string;
  readonly oauth: OAuthSettings;
  readonly challenge: BearerChallenge;
  readonly ui: SignInUi;
  /** The stored tokens of this server definition. */
  readonly storage: MCPOAuthTokenStorage;
  readonly lock: SignInLock;
  readonly fetch: Fetch;
  /** Sends token requests. Must not follow redirects, because the requests contain secrets. */
  readonly post: Fetch;
  readonly clock: Clock;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  /** True if the definition comes from the workspace and not from the user's settings. */
  readonly isFromWorkspace?: boolean | undefined;
  readonly issuerOverride?: string | undefined;
  readonly clientMetadataUrl?: string | undefined;
  /** The scopes of an earlier sign-in. The server says that they are not enough. */
  readonly before?: readonly string[] | undefined;
}

interface Flow extends Omit<SignInOptions, "fetch"> {
  readonly plan: SignInPlan;
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  readonly stored: Credentials | undefined;
  readonly fail: Fail;
  readonly signal: AbortSignal;
  /** The key that the tokens are bound to. Undefined for bearer tokens. */
  readonly dpopKey: string | undefined;
  readonly dpop: DpopProofs | undefined;
}

/**
 * Signs in and stores the tokens. Aborting `signal`, which `fetch` and `post` must have too, cancels the sign-in.
 *
 * @throws HostError `auth_failed`, `auth_required` or `cancelled`
 */
export async function signIn(options: SignInOptions, signal: AbortSignal): Promise<Credentials> {
  try {
    return await runSteps(options, signal);
  } catch (error) {
    const isCancelled = error instanceof HostError ? error.code === "cancelled" : signal.aborted;
    throw isCancelled ? signInCancelled(options.serverName) : error;
  }
}

async function runSteps(options: SignInOptions, signal: AbortSignal): Promise<Credentials> {
  const { serverName, serverUrl, oauth, ui, storage, before } = options;
  const fail = createFail(serverName);
  const stored = await storage.getCredentials(serverUrl);
  const plan = await discoverSignIn({
    ...options,
    fail,
    onOverride: (issuer, instead) => ui.show({ kind: "issuer_override", issuer, instead }),
    choose: async (issuers) => chooseIssuer(issuers, stored, ui, signal),
  });
  const offered = plan.server.scopes_supported;
  const scopes = wantedScopes({ scopes: plan.scopes, offered, chosen: ui.scopes ?? oauth.scopes, before });
  const dpopKey = plan.isDpop ? (stored?.dpopKey ?? newDpopKey()) : undefined;
  const dpop = dpopKey === undefined ? undefined : createDpopProofs(dpopKey);
  const audiences = oauth.audiences ?? [];
  const flow: Flow = { ...options, plan, scopes, stored, fail, signal, audiences, dpopKey, dpop };
  const { client, tokens } = ui.device === true ? await byDevice(flow) : await byBrowser(flow);
  signal.throwIfAborted();
  const credentials = toCredentials(flow, client, tokens);
  const name = await storage.nameOf(serverUrl);
  await evenIfBusy(options.lock, name, () => storage.saveCredentials(credentials));
  showResult(credentials, scopes, ui);
  return credentials;
}

/** The authorization server of the last sign-in, if the MCP server still names it. Otherwise the person chooses. */
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

interface SignedIn {
  readonly client: StoredClient;
  readonly tokens: StoredTokens;
}

async function byDevice(flow: Flow): Promise<SignedIn> {
  const { signInByDevice } = await import("./oauth/device.ts");
  const { ui } = flow;
  const existingClient = knownClient(flow);
  const client = existingClient ?? (await newClient(flow, "http://127.0.0.1/oauth/callback"));
  const tokens = await signInByDevice({ ...flow, client, show: ui.show });
  return { client, tokens };
}

async function byBrowser(flow: Flow): Promise<SignedIn> {
  checkChallengeMethods(flow.plan, flow.fail);
  const existingClient = knownClient(flow);
  const first = await tryBrowser(flow, existingClient);
  if (first !== "invalid_client") return first;
  // An earlier sign-in registered this client, but the server no longer knows it. So Fairlead registers a new one.
  const isRegistered = existingClient?.redirectUri !== undefined;
  const second = isRegistered ? await tryBrowser(flow, undefined) : first;
  if (second !== "invalid_client") return second;
  throw flow.fail("token request", `${flow.plan.server.issuer} does not know this client (invalid_client)`, {
    next: `Check "clientId" and "clientSecret" under "oauth" of "${flow.serverName}" in settings.json.`,
  });
}

async function tryBrowser(flow: Flow, existingClient: StoredClient | undefined): Promise<SignedIn | "invalid_client"> {
  const state = generateRandomState();
  const listener = await openRedirectListener(flow.oauth, existingClient, flow.ui.callbackPort, state, flow.fail);
  try {
    // If another program uses the registered port, the listener has a new redirect URI. That needs a new client.
    const isUsable = existingClient?.redirectUri === undefined || existingClient.redirectUri === listener.redirectUri;
    const client = isUsable && existingClient ? existingClient : await newClient(flow, listener.redirectUri);
    return await authorize(flow, client, listener, state);
  } catch (error) {
    // An error here would hide why the sign-in failed.
    if (existingClient?.redirectUri !== undefined) await forgetRedirect(flow, existingClient).catch(() => undefined);
    throw error;
  } finally {
    await listener.close();
  }
}

async function authorize(
  flow: Flow,
  client: StoredClient,
  listener: RedirectListener,
  state: string,
): Promise<SignedIn | "invalid_client"> {
  const { plan, fail } = flow;
  const { redirectUri } = listener;
  const { url, verifier } = await askForCode({ ...flow, client, redirectUri, state });
  const answer = await awaitAnswer({ ...flow, url, listener, state });
  const code = codeIn(answer, state, plan, fail);
  const tokens = await exchangeCode({ code, verifier, redirectUri }, { ...flow, client });
  return tokens === "invalid_client" ? tokens : { client, tokens };
}

/**
 * Makes the next sign-in register a new client. If the client is no longer valid, only the browser shows an error, and
 * Fairlead cannot see it.
 */
async function forgetRedirect({ storage, lock, serverUrl }: Flow, client: StoredClient): Promise<void> {
  // Without the lock, this could overwrite tokens that another process has just refreshed.
  await lock(await storage.nameOf(serverUrl), async () => {
    const stored = await storage.getCredentials(serverUrl);
    if (stored?.client.clientId !== client.clientId || stored.client.redirectUri !== client.redirectUri) return;
    const { redirectUri: _, ...rest } = stored.client;
    await storage.saveCredentials({ ...stored, client: rest });
  });
}

async function newClient(flow: Flow, redirectUri: string): Promise<StoredClient> {
  const outcome = await registerClient({ ...flow, redirectUri, isDevice: flow.ui.device === true, fetch: flow.post });
  return "clientId" in outcome ? outcome : askForClientId({ ...flow, redirectUri, ...outcome }, flow.signal);
}

/** Returns a finished sign-in as it is stored. */
export function toCredentials(
  {
    serverName,
    serverUrl,
    plan,
    scopes,
    audiences,
    dpopKey,
  }: Pick<Flow, "serverName" | "serverUrl" | "plan" | "scopes" | "audiences" | "dpopKey">,
  client: StoredClient,
  tokens: StoredTokens,
): Credentials {
  const { issuer, token_endpoint: token } = plan.server;
  const { authorization_endpoint: authorization, revocation_endpoint: revocation } = plan.server;
  return {
    serverName,
    serverUrl,
    resource: plan.resource,
    issuer,
    account: accountIn(tokens.idToken),
    client,
    // If the response names no scopes, the requested scopes are granted (RFC 6749 §5.1).
    tokens: tokens.scope === undefined && scopes.length > 0 ? { ...tokens, scope: scopes.join(" ") } : tokens,
    endpoints: { token, authorization, revocation, device: plan.server.device_authorization_endpoint },
    dpopKey,
    scopes,
    audiences: audiences.length > 0 ? audiences : undefined,
  };
}

function showResult(
  { serverName, issuer, account, tokens, endpoints }: Credentials,
  requested: readonly string[],
  { show }: SignInUi,
): void {
  const granted = scopesIn(tokens?.scope);
  const isSame = includesAll(granted, requested) && includesAll(requested, granted);
  if (granted.length > 0 && !isSame) show({ kind: "scopes_differ", requested, granted });
  const tokenHost = otherTokenHost(issuer, endpoints.token);
  show({ kind: "signed_in", serverName, issuer, scopes: granted, account, tokenHost });
}

/** A longer account name (in characters) is cut. */
const longestName = 200;

/**
 * Returns the account name in an ID token, or undefined. The token comes directly from the token endpoint, so its
 * signature need not be checked (OpenID Connect Core §3.1.3.7).
 */
export function accountIn(idToken: string | undefined): string | undefined {
  const claims = parseObject(Buffer.from(idToken?.split(".")[1] ?? "", "base64url").toString());
  if (claims === undefined) return undefined;
  const name = textIn(claims, "email") ?? textIn(claims, "preferred_username") ?? textIn(claims, "sub");
  return name?.slice(0, longestName);
}
