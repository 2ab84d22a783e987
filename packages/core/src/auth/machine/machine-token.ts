/**
 * Requests an access token for a machine, in one of three ways: client credentials, JWT bearer (RFC 7523), or ID-JAG
 * (RFC 8693, then RFC 7523).
 */

import { HostError } from "../../errors.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import { webUrl } from "../../net/open-url.ts";
import type { MachineAuthSettings } from "../../settings/define/definition.ts";
import type { Environment } from "../../settings/read/paths.ts";
import { parameterOf } from "../oauth/challenge.ts";
import { fetchServerMetadata } from "../oauth/discovery.ts";
import type { DpopProofs } from "../oauth/dpop.ts";
import { durationWords, explainFailure } from "../oauth/failure.ts";
import { idJag, requestTokens, type TokenRequest } from "../oauth/token-request.ts";
import type { Credentials, StoredTokens } from "../store/credentials.ts";
import { type Assertion, readAssertion } from "./assertion.ts";
import { type MachineProof, proveClient } from "./client-proof.ts";
import type { MachineObserver } from "./machine-auth.ts";
import { machineRefused } from "./machine-failure.ts";

/** What a token request needs: settings, target, network access and clock. */
export interface MachineTokenOptions {
  /** The `machineAuth` settings. Their variables and secrets are already expanded. */
  readonly settings: MachineAuthSettings;
  /** The server, its authorization server, and the scopes to request. */
  readonly target: Credentials;
  readonly env: Environment["env"];
  /** Sends the request to the authorization server. Does not follow redirects. */
  readonly post: Fetch;
  /** Returns the `fetch` for the identity provider, whose `url` is in the settings. */
  readonly fetchNear: (url: string) => Fetch;
  readonly dpop: DpopProofs | undefined;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  readonly observe: MachineObserver;
}

interface GrantRequest extends Pick<TokenRequest, "url" | "client" | "grant" | "parameters" | "fetch" | "tokenType"> {
  readonly step: "token request" | "token exchange";
  readonly proof: MachineProof;
  readonly assertion?: Assertion | undefined;
  readonly audiences: readonly [string, ...string[]];
}

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/**
 * Returns a new access token, without a refresh token.
 *
 * @throws HostError `auth_failed`, `http_status` or `unreachable`; the message says why the request failed
 */
export async function requestMachineToken(options: MachineTokenOptions): Promise<StoredTokens> {
  const { settings, target, post, now, observe } = options;
  const { serverName, endpoints, issuer, resource, scopes = [], machine } = target;
  const audience = machine?.assertionAudience ?? issuer;
  const { clientId, clientSecret } = settings;
  const { authentication } = target.client;
  const client = clientId === undefined ? undefined : { clientId, clientSecret, authentication };
  const { signingAlgorithms } = machine ?? {};
  const assertion = await grantAssertion(options, audience);
  const proof = await proveClient({ settings, serverName, client, audience, signingAlgorithms, now });
  const scope = parameterOf(scopes);
  const tokens = await send(
    {
      step: "token request",
      url: endpoints.token,
      client,
      proof,
      grant: assertion === undefined ? "client_credentials" : jwtBearer,
      parameters:
        assertion === undefined
          ? { audience: settings.audience, scope, resource }
          : { assertion: assertion.jwt, scope, resource },
      assertion,
      audiences: [audience, endpoints.token],
      fetch: post,
    },
    options,
  );
  const life = tokens.expiresAt === undefined ? "" : `, valid for ${durationWords(tokens.expiresAt - now())}`;
  const granted = tokens.scope === undefined ? "" : `, scopes ${tokens.scope}`;
  const how = proof.method === "none" ? "" : ` with ${proof.method}`;
  observe({ action: "token request", detail: `${endpoints.token}${how}: ${tokens.tokenType} token${life}${granted}` });
  // A machine needs no refresh token: its own credentials get a new token (RFC 6749 §4.4.3).
  const { refreshToken: _, ...rest } = tokens;
  return rest;
}

/** Returns the JWT for the token request. Undefined for client credentials, which need none. */
async function grantAssertion(options: MachineTokenOptions, audience: string): Promise<Assertion | undefined> {
  const { settings, target, env, observe } = options;
  if (settings.kind === "client_credentials") return undefined;
  const { serverName } = target;
  const given = await readAssertion({ settings, serverName, env, audience: settings.audience ?? audience });
  observe({ action: "assertion", detail: `read from ${given.from}` });
  return settings.kind === "enterprise" ? exchange(given, options) : given;
}

/** Exchanges a person's ID token for an ID-JAG, a JWT that only the server's authorization server accepts. */
async function exchange(subject: Assertion, options: MachineTokenOptions): Promise<Assertion> {
  const { settings, target, fetchNear, observe } = options;
  const { identityProvider = {} } = settings;
  const { serverName, resource, issuer, scopes = [] } = target;
  const { clientId = "", clientSecret } = identityProvider;
  const near = identityProvider.tokenUrl ?? identityProvider.issuer ?? "";
  const fetch = fetchNear(near);
  const url = await checkedProvider(identityProvider.tokenUrl, { issuer: near, serverName, fetch });
  const tokens = await send(
    {
      step: "token exchange",
      url,
      client: { clientId, clientSecret },
      proof: { method: clientSecret === undefined ? "none" : "client_secret_basic" },
      grant: "urn:ietf:params:oauth:grant-type:token-exchange",
      parameters: {
        requested_token_type: idJag,
        subject_token: subject.jwt,
        subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
        audience: settings.audience ?? issuer,
        resource,
        scope: parameterOf(scopes),
      },
      tokenType: "N_A",
      assertion: subject,
      audiences: [clientId],
      fetch,
    },
    { ...options, dpop: undefined },
  );
  observe({ action: "token exchange", detail: `${url}: ID-JAG for ${settings.audience ?? issuer}` });
  return { jwt: tokens.accessToken, from: `the ID-JAG of ${new URL(url).host}` };
}

/**
 * Returns the token endpoint of the identity provider.
 *
 * @throws HostError `auth_failed` if there is none, or if it is neither https nor http on this machine
 */
async function checkedProvider(
  tokenUrl: string | undefined,
  { issuer, serverName, fetch }: { readonly issuer: string; readonly serverName: string; readonly fetch: Fetch },
): Promise<string> {
  const fail = (reason: string): HostError =>
    new HostError("auth_failed", `identity provider of "${serverName}" cannot be used: ${reason}`, {
      serverName,
      next: `Correct "identityProvider" under machineAuth of "${serverName}".`,
    });
  const checked = (url: string): string => {
    const safe = webUrl(url);
    if (safe === undefined) throw fail(`${JSON.stringify(url)} is not an https address`);
    return safe.href;
  };
  if (tokenUrl !== undefined) return checked(tokenUrl);
  checked(issuer);
  const metadata = await fetchServerMetadata({ fetch, fail: (_step, reason) => fail(reason) }, issuer);
  if (metadata?.token_endpoint === undefined) throw fail(`${issuer} has no metadata with a token endpoint`);
  return checked(metadata.token_endpoint);
}

async function send(request: GrantRequest, { target, dpop, now }: MachineTokenOptions): Promise<StoredTokens> {
  const { step, url, proof } = request;
  const { serverName, scopes = [] } = target;
  const asked = requestTokens({ ...request, authenticate: proof.authenticate, dpop, now });
  const answer = await explainFailure(asked, (words, cause) => {
    const message = `${step} for "${serverName}" failed: ${new URL(url).origin} cannot be reached: ${words}`;
    return new HostError("unreachable", message, { serverName, next: "Check the network, then try again.", cause });
  });
  if (answer.kind === "tokens") return answer.tokens;
  throw machineRefused({ ...request, serverName, answer, scopes, isDpop: dpop !== undefined, now: now() });
}
