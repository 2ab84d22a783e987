/**
 * Requests an access token for a machine, in one of three ways: client credentials, JWT bearer (RFC 7523), or ID-JAG
 * (RFC 8693, then RFC 7523).
 */

import { parseObject, textIn } from "@fairlead/wire/json";
import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import { webUrl } from "../../net/open-url.ts";
import type { MachineAuthSettings } from "../../settings/define/definition.ts";
import type { Environment } from "../../settings/read/paths.ts";
import { present } from "../../settings/schema/present.ts";
import { clockLeadOf, durationWords } from "../oauth/clock-lead.ts";
import { readTokenAnswer, type TokenAnswer } from "../oauth/code-exchange.ts";
import { type DpopBinding, postForm } from "../oauth/endpoint-request.ts";
import { fetchDocument, serverMetadataUrls } from "../oauth/metadata.ts";
import type { Credentials, StoredClient, StoredTokens } from "../store/credentials.ts";
import { type Assertion, readAssertion } from "./assertion.ts";
import { type MachineProof, proveClient } from "./client-proof.ts";
import { machineRefused } from "./machine-failure.ts";
import type { MachineObserver } from "./machine-step.ts";

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
  readonly dpop: DpopBinding | undefined;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  readonly observe: MachineObserver;
}

interface GrantRequest {
  readonly step: "token request" | "token exchange";
  readonly url: string;
  readonly client: StoredClient | undefined;
  readonly prove: () => Promise<MachineProof>;
  readonly parameters: Readonly<Record<string, string>>;
  readonly tokenType: string;
  readonly assertion?: Assertion | undefined;
  readonly audiences: readonly [string, ...string[]];
  readonly fetch: Fetch;
}

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const idJag = "urn:ietf:params:oauth:token-type:id-jag";

/**
 * Returns a new access token, without a refresh token.
 *
 * @throws HostError `auth_failed`, `http_status` or `unreachable`; the message says why the request failed
 */
export async function requestMachineToken(options: MachineTokenOptions): Promise<StoredTokens> {
  const { settings, target, post, dpop, now, observe } = options;
  const { serverName, endpoints, issuer, resource, scopes = [], machine } = target;
  const audience = machine?.assertionAudience ?? issuer;
  const { clientId, clientSecret } = settings;
  const { authentication } = target.client;
  const client = clientId === undefined ? undefined : { clientId, ...present({ clientSecret, authentication }) };
  const { signingAlgorithms } = machine ?? {};
  const prove = (): Promise<MachineProof> =>
    proveClient({ settings, serverName, client, audience, signingAlgorithms, now });
  const assertion = await grantAssertion(options, audience);
  const { tokens, proof } = await send(
    {
      step: "token request",
      url: endpoints.token,
      client,
      prove,
      parameters: {
        ...(assertion === undefined
          ? {
              grant_type: "client_credentials",
              ...(settings.audience !== undefined && { audience: settings.audience }),
            }
          : { grant_type: jwtBearer, assertion: assertion.jwt }),
        ...(scopes.length > 0 && { scope: scopes.join(" ") }),
        resource,
      },
      tokenType: dpop === undefined ? "Bearer" : "DPoP",
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
  const { settings, target, fetchNear, now, observe } = options;
  const { identityProvider = {} } = settings;
  const { serverName, resource, issuer, scopes = [] } = target;
  const { clientId = "", clientSecret } = identityProvider;
  const near = identityProvider.tokenUrl ?? identityProvider.issuer ?? "";
  const fetch = fetchNear(near);
  const url = await checkedProvider(identityProvider.tokenUrl, { issuer: near, serverName, fetch });
  const client = { clientId, ...(clientSecret !== undefined && { clientSecret }) };
  const provider: MachineAuthSettings = { kind: settings.kind, ...client };
  const { tokens } = await send(
    {
      step: "token exchange",
      url,
      client,
      prove: () => proveClient({ settings: provider, serverName, client, audience: near, now }),
      parameters: {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        requested_token_type: idJag,
        subject_token: subject.jwt,
        subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
        audience: settings.audience ?? issuer,
        resource,
        ...(scopes.length > 0 && { scope: scopes.join(" ") }),
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
  return checked(await tokenEndpointOf(issuer, fetch, fail));
}

async function tokenEndpointOf(issuer: string, fetch: Fetch, fail: (reason: string) => HostError): Promise<string> {
  for (const url of serverMetadataUrls(issuer)) {
    const answer = await fetchDocument(fetch, url).catch((error: unknown) => {
      throw fail(`${url} cannot be read: ${errorMessage(error)}`);
    });
    if (answer.kind === "absent") continue;
    const { document } = answer;
    if (textIn(document, "issuer") !== issuer) throw fail(`the metadata at ${url} names another issuer than ${issuer}`);
    const endpoint = textIn(document, "token_endpoint");
    if (endpoint !== undefined) return endpoint;
  }
  throw fail(`${issuer} has no metadata with a token endpoint`);
}

async function send(
  request: GrantRequest,
  options: MachineTokenOptions,
): Promise<{ readonly tokens: StoredTokens; readonly proof: MachineProof }> {
  const { step, url, client, prove, parameters, tokenType, fetch } = request;
  const { target, dpop, now } = options;
  const { serverName, scopes = [] } = target;
  const proof = await prove();
  const askedAt = now();
  let response: Response;
  let answer: TokenAnswer;
  try {
    response = await postForm({ url, proof, renewProof: prove, parameters, fetch, dpop });
    answer =
      checkedExchange(step, await response.clone().text()) ?? (await readTokenAnswer(response, askedAt, tokenType));
  } catch (cause) {
    if (cause instanceof HostError && cause.code === "cancelled") throw cause;
    const message = `${step} for "${serverName}" failed: ${new URL(url).origin} cannot be reached: ${errorMessage(cause)}`;
    throw new HostError("unreachable", message, { serverName, next: "Check the network, then try again.", cause });
  }
  if (answer.kind === "tokens") return { tokens: answer.tokens, proof };
  const { assertion, audiences } = request;
  throw machineRefused({
    serverName,
    step,
    url,
    answer,
    client,
    proof,
    assertion,
    audiences,
    scopes,
    isDpop: dpop !== undefined,
    clockLead: clockLeadOf(response.headers.get("date"), (askedAt + now()) / 2),
    now: now(),
  });
}

/**
 * An identity provider without ID-JAG may issue an ordinary token. The server's authorization server must not get such
 * a token.
 */
function checkedExchange(step: GrantRequest["step"], text: string): TokenAnswer | undefined {
  const type = step === "token exchange" ? parseObject(text)?.["issued_token_type"] : undefined;
  if (type === undefined || type === idJag) return undefined;
  return { kind: "unusable", reason: "the issued token is not an ID-JAG" };
}
