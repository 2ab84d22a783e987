/** Finds out how to sign in to a server: its authorization server, the endpoints and the scopes. */

import { parseUrl } from "@fairlead/wire/text";
import type { AuthorizationServer } from "oauth4webapi";
import type { Fetch } from "../../net/bounded-fetch.ts";
import { webUrl } from "../../net/open-url.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import { type BearerChallenge, mergeScopes, scopesIn } from "./challenge.ts";
import { explainFailure, type Fail, type SignInStep } from "./failure.ts";
import {
  covers,
  fetchDocument,
  type ResourceMetadata,
  resourceMetadataUrls,
  resourceOf,
  serverMetadataUrls,
  toResourceMetadata,
  toServerMetadata,
} from "./metadata.ts";

/** The server, what its 401 response said, and the OAuth settings. */
export interface DiscoveryOptions {
  readonly serverUrl: string;
  readonly challenge: BearerChallenge;
  readonly oauth: OAuthSettings;
  readonly fetch: Fetch;
  readonly fail: Fail;
  /** True if no person signs in. Then `tokenUrl` is enough, and no authorization endpoint is needed. */
  readonly isMachine?: boolean;
  /** True if the `oauth` settings come from the workspace. They may name the endpoints or an issuer, but not both. */
  readonly isFromWorkspace?: boolean | undefined;
  /** The setting `issuerOverride`, which replaces the issuers that the server names. */
  readonly issuerOverride?: string | undefined;
  readonly onOverride?: (issuer: string, instead: readonly string[]) => void;
  /** Chooses one of several issuers. Default: the first. */
  readonly choose?: (issuers: readonly string[]) => Promise<string>;
}

/** How to sign in to one server, found out before the sign-in begins. */
export interface SignInPlan {
  /** The value of `resource` in every token request (RFC 8707). */
  readonly resource: string;
  /**
   * The authorization server: its metadata, and the endpoints in the settings. Every endpoint is https, or http on this
   * machine. If a person signs in, there is an `authorization_endpoint`.
   */
  readonly server: AuthorizationServer & { readonly token_endpoint: string };
  /** False if there is neither an issuer nor its metadata. Then `server.issuer` is the token endpoint's origin. */
  readonly isIssuerKnown: boolean;
  /** The scopes that the server asks for, without those in the settings. */
  readonly scopes: readonly string[];
  /** False for servers of protocol version 2025-03-26, and for servers without metadata. */
  readonly mustListPkce: boolean;
  /** True if the server accepts only tokens that are bound to a key (DPoP, RFC 9449). */
  readonly isDpop: boolean;
  /** True if there is no metadata. Then Fairlead uses the default endpoints of protocol version 2025-03-26. */
  readonly isGuess: boolean;
}

const aboutServer: SignInStep = "server metadata";
const aboutIssuer: SignInStep = "authorization server metadata";

/**
 * Reads the metadata of the server and of its authorization server.
 *
 * @throws HostError `auth_failed` if the metadata or the settings are invalid
 */
export async function discoverSignIn(options: DiscoveryOptions): Promise<SignInPlan> {
  const { serverUrl, challenge, oauth, fail } = options;
  checkWorkspace(options);
  const found = await findResource(options);
  if (found !== undefined && !covers(found.resource, serverUrl))
    throw fail(
      aboutServer,
      `the metadata is about ${found.resource}, which is not this server (${resourceOf(serverUrl)})`,
      {
        next: `Check the server's address in settings.json; if it is right, ask the server's operator to correct "resource" in the metadata.`,
      },
    );
  const origin = new URL(serverUrl).origin;
  const isPinned = oauth.tokenUrl !== undefined && (oauth.authorizationUrl !== undefined || options.isMachine === true);
  // If the settings name the endpoints, the issuers that the server names do not matter.
  const issuer = await issuerFor(options, isPinned ? [] : (found?.authorizationServers ?? []));
  const isLegacy = issuer === undefined && !isPinned;
  const metadata =
    issuer === undefined && isPinned
      ? undefined
      : await fetchServerMetadata(options, issuer ?? origin, { isLegacy, isPinned });
  const endpoints = endpointsFor(options, metadata, isLegacy ? origin : undefined);
  return {
    resource: found?.resource ?? resourceOf(serverUrl),
    // Without an issuer, the origin of the token endpoint stands for the authorization server.
    server: { issuer: issuer ?? new URL(endpoints.token_endpoint).origin, ...metadata, ...endpoints },
    isIssuerKnown: issuer !== undefined || metadata !== undefined,
    scopes: challenge.scope === undefined ? (found?.scopes ?? []) : scopesIn(challenge.scope),
    mustListPkce: metadata !== undefined && !isLegacy,
    isDpop: challenge.isDpop === true || found?.isDpop === true,
    isGuess: isLegacy && found === undefined && metadata === undefined,
  };
}

/**
 * A workspace could replace only the token endpoint. Then the authorization code of a real issuer would go to an
 * attacker.
 */
function checkWorkspace({ oauth, issuerOverride, isFromWorkspace, fail }: DiscoveryOptions): void {
  const { authorizationUrl, tokenUrl, registrationUrl, issuer } = oauth;
  const endpoints = Object.entries({ authorizationUrl, tokenUrl, registrationUrl });
  const [named] = endpoints.flatMap(([setting, url]) => (url === undefined ? [] : [setting]));
  if (isFromWorkspace !== true || named === undefined) return;
  const isWhole = authorizationUrl !== undefined && tokenUrl !== undefined;
  if (isWhole && issuer === undefined && issuerOverride === undefined) return;
  const missing = authorizationUrl === undefined ? "authorizationUrl" : "tokenUrl";
  const beside = issuerOverride === undefined ? '"oauth.issuer"' : "your issuerOverride";
  throw fail(
    aboutIssuer,
    isWhole
      ? `the workspace sets "oauth.${named}" together with ${beside}, so the endpoint and the issuer could belong to different authorization servers`
      : `the workspace sets "oauth.${named}" but not "oauth.${missing}", so the endpoints could belong to different authorization servers`,
    {
      next: 'Set both "authorizationUrl" and "tokenUrl" without an issuer, or none of them; or set them in your user settings.',
    },
  );
}

/** Returns undefined if the server has no metadata, as in protocol version 2025-03-26. */
async function findResource(options: DiscoveryOptions): Promise<ResourceMetadata | undefined> {
  const { serverUrl, challenge, fetch, fail } = options;
  const { resourceMetadata: told = "" } = challenge;
  const first = told === "" ? undefined : parseUrl(told, serverUrl);
  const urls = first ? [first.href, ...resourceMetadataUrls(serverUrl)] : resourceMetadataUrls(serverUrl);
  let incomplete: string | undefined;
  for (const url of urls) {
    const answer = await explainFailure(fetchDocument(fetch, url), (words, cause) =>
      fail(aboutServer, `${url} cannot be read: ${words}`, { cause }),
    );
    if (answer.kind === "absent") continue;
    const metadata = toResourceMetadata(answer.document);
    if (metadata !== undefined) return metadata;
    incomplete ??= url;
  }
  if (incomplete !== undefined)
    throw fail(aboutServer, `${incomplete} has no "resource"`, {
      next: 'Ask the server\'s operator to add "resource" to this document.',
    });
  return undefined;
}

/** Returns the issuer in the settings, otherwise one that the server names. Undefined if there is none. */
async function issuerFor(
  { issuerOverride, oauth, onOverride, choose, fail }: DiscoveryOptions,
  named: readonly string[],
): Promise<string | undefined> {
  if (issuerOverride !== undefined) onOverride?.(issuerOverride, named);
  const given = issuerOverride ?? oauth.issuer;
  const issuer = given ?? (named.length > 1 && choose ? await choose(named) : named[0]);
  if (issuer !== undefined && webUrl(issuer) === undefined)
    throw fail(aboutIssuer, `${JSON.stringify(issuer)} is not the https address of an authorization server`, {
      next:
        given === undefined
          ? "Ask the server's operator to correct its metadata."
          : `Correct ${issuerOverride === undefined ? '"oauth.issuer"' : '"issuerOverride"'} in settings.json.`,
    });
  return issuer;
}

/** Reads an issuer's metadata. It is optional in protocol version 2025-03-26, and if the settings name the endpoints. */
export async function fetchServerMetadata(
  { fetch, fail }: Pick<DiscoveryOptions, "fetch" | "fail">,
  issuer: string,
  { isLegacy, isPinned }: { readonly isLegacy?: boolean; readonly isPinned?: boolean } = {},
): Promise<AuthorizationServer | undefined> {
  const failures: string[] = [];
  for (const url of serverMetadataUrls(issuer)) {
    const answer = await explainFailure(fetchDocument(fetch, url), (words, cause) =>
      fail(aboutIssuer, `${url} cannot be read: ${words}`, { cause }),
    );
    const metadata = answer.kind === "found" ? toServerMetadata(answer.document) : undefined;
    if (metadata === undefined) {
      failures.push(answer.kind === "found" ? `${url} has no "issuer"` : `${url} answered ${answer.status}`);
      continue;
    }
    // In protocol version 2025-03-26, the issuer is the server's origin. Some servers add a slash.
    const isSame = metadata.issuer === issuer || (isLegacy && metadata.issuer === `${issuer}/`);
    if (!isSame)
      throw fail(aboutIssuer, `${url} is about ${metadata.issuer}, not about ${issuer}`, {
        next: `Ask the server's operator which issuer is right, then set it in settings.json: "oauth": {"issuer": "…"}`,
      });
    return metadata;
  }
  if (isLegacy || isPinned) return undefined;
  throw fail(aboutIssuer, `${issuer} has no metadata: ${failures.join("; ")}`);
}

function endpointsFor(
  { oauth, isMachine = false, fail }: DiscoveryOptions,
  metadata: AuthorizationServer | undefined,
  legacyOrigin: string | undefined,
) {
  const isBare = metadata === undefined && legacyOrigin !== undefined;
  const fallback = (path: string): string | undefined => (isBare ? `${legacyOrigin}${path}` : undefined);
  const checked = (name: string, url: string | undefined): string | undefined => {
    if (url === undefined) return undefined;
    const safe = webUrl(url);
    if (safe === undefined)
      throw fail(aboutIssuer, `the ${name} endpoint ${JSON.stringify(url)} is not an https address`, {
        next: 'Ask the operator of the authorization server for an https address; if "oauth" in settings.json sets this one, correct it.',
      });
    return safe.href;
  };
  const authorization = checked(
    "authorization",
    oauth.authorizationUrl ?? metadata?.authorization_endpoint ?? fallback("/authorize"),
  );
  const token = checked("token", oauth.tokenUrl ?? metadata?.token_endpoint ?? fallback("/token"));
  const registration = oauth.registrationUrl ?? metadata?.registration_endpoint ?? fallback("/register");
  const isIncomplete = authorization === undefined && !isMachine;
  if (isIncomplete || token === undefined)
    throw fail(aboutIssuer, `the metadata has no ${isIncomplete ? "authorization" : "token"} endpoint`);
  return {
    token_endpoint: token,
    authorization_endpoint: authorization,
    registration_endpoint: checked("registration", registration),
    revocation_endpoint: checked("revocation", metadata?.revocation_endpoint),
    device_authorization_endpoint: checked("device authorization", metadata?.device_authorization_endpoint),
  };
}

/**
 * Returns the token endpoint's host, for messages. Undefined if it is the issuer's host, which messages already show.
 */
export function otherTokenHost(issuer: string, tokenEndpoint: string): string | undefined {
  const { host } = new URL(tokenEndpoint);
  return parseUrl(issuer)?.host === host ? undefined : host;
}

interface ScopeOptions {
  /** The scopes that the server asks for. */
  readonly scopes: readonly string[];
  /** The scopes in the authorization server's metadata. */
  readonly offered?: readonly string[] | undefined;
  /** Scopes from the command line or the settings. They are requested unchanged. */
  readonly chosen: readonly string[] | undefined;
  /**
   * The scopes of an earlier sign-in, which were not enough. They are requested again, together with further scopes.
   */
  readonly before: readonly string[] | undefined;
}

const offline = "offline_access";

/** Returns the scopes to request. Adds or removes `offline_access`, depending on the offered scopes. */
export function wantedScopes({ scopes, offered, chosen, before }: ScopeOptions): readonly string[] {
  if (before !== undefined) return mergeScopes(before, chosen ?? [], scopes);
  if (chosen !== undefined) return chosen;
  // `offline_access` alone is useless, so an empty list stays empty. If no scopes are offered, nothing is changed.
  if (scopes.length === 0 || offered === undefined) return scopes;
  return offered.includes(offline) ? mergeScopes(scopes, [offline]) : scopes.filter((scope) => scope !== offline);
}
