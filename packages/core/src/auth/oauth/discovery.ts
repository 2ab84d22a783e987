/** Plans a sign-in: finds the resource, the authorization server, its endpoints and the scopes. */

import { parseUrl } from "@fairlead/wire/text";
import type { Fetch } from "../../net/bounded-fetch.ts";
import { webUrl } from "../../net/open-url.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import { present } from "../../settings/schema/present.ts";
import type { BearerChallenge } from "./challenge.ts";
import { explainFailure, type Fail, type SignInStep } from "./failure.ts";
import {
  covers,
  fetchDocument,
  type ResourceMetadata,
  resourceMetadataUrls,
  resourceOf,
  type ServerMetadata,
  serverMetadataUrls,
  toResourceMetadata,
  toServerMetadata,
} from "./metadata.ts";
import { mergeScopes, scopesIn } from "./scopes.ts";

export interface DiscoveryOptions {
  readonly serverUrl: string;
  readonly challenge: BearerChallenge;
  readonly oauth: OAuthSettings;
  readonly fetch: Fetch;
  readonly fail: Fail;
  /**
   * True if a machine signs in. A machine needs no authorization endpoint, and `tokenUrl` alone can name its
   * authorization server.
   */
  readonly isMachine?: boolean;
  /**
   * True if the `oauth` settings come from the workspace. Such settings may name endpoints or an issuer, but not both.
   */
  readonly isFromWorkspace?: boolean | undefined;
  /** The user's setting `issuerOverride`, which replaces the issuers that the server names. */
  readonly issuerOverride?: string | undefined;
  readonly onOverride?: (issuer: string, instead: readonly string[]) => void;
  /** Chooses one of several issuers. Without this function, Fairlead uses the first one. */
  readonly choose?: (issuers: readonly string[]) => Promise<string>;
}

/** Data about the server and its authorization server, found before the sign-in begins. */
export interface SignInPlan {
  /** The `resource` parameter of every token request (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  /** Whether the issuer is known. False if the settings name the endpoints but no issuer. */
  readonly isIssuerKnown: boolean;
  readonly endpoints: Endpoints;
  readonly metadata: Omit<ServerMetadata, "issuer" | keyof Endpoints> | undefined;
  /** Scopes that the server asks for. Scopes in the settings are not included. */
  readonly scopes: readonly string[];
  /** Whether the server itself is the authorization server, as in protocol version 2025-03-26. */
  readonly isLegacyFallback: boolean;
  /** Whether the server requires tokens that are bound to a key (RFC 9449). */
  readonly isDpop: boolean;
  /** True if no metadata was found. Then the default endpoints of protocol version 2025-03-26 are used. */
  readonly isGuess: boolean;
}

export interface Endpoints {
  /** The authorization endpoint. Always present if a person signs in. */
  readonly authorization?: string;
  readonly token: string;
  readonly registration?: string;
  readonly revocation?: string;
  readonly device?: string;
}

const aboutServer: SignInStep = "server metadata";
const aboutIssuer: SignInStep = "authorization server metadata";

/** @throws HostError `auth_failed` */
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
  // If the settings name the endpoints, Fairlead ignores the issuers that the server names.
  const issuer = await issuerFor(options, isPinned ? [] : (found?.authorizationServers ?? []));
  const isLegacy = issuer === undefined && !isPinned;
  const metadata =
    issuer === undefined && isPinned ? undefined : await findServer(options, issuer ?? origin, { isLegacy, isPinned });
  const endpoints = endpointsFor(options, metadata, isLegacy ? origin : undefined);
  return {
    resource: found?.resource ?? resourceOf(serverUrl),
    // If no issuer is known, the origin of the token endpoint identifies the authorization server.
    issuer: metadata?.issuer ?? issuer ?? new URL(endpoints.token).origin,
    isIssuerKnown: issuer !== undefined || metadata !== undefined,
    endpoints,
    metadata,
    scopes: challenge.scope === undefined ? (found?.scopes ?? []) : scopesIn(challenge.scope),
    isLegacyFallback: isLegacy,
    isDpop: challenge.isDpop === true || found?.isDpop === true,
    isGuess: isLegacy && found === undefined && metadata === undefined,
  };
}

/**
 * Checks that the workspace's settings name all endpoints or none. With only one endpoint, the settings could redirect
 * the authorization code of a real issuer to an attacker.
 */
function checkWorkspace({ oauth, issuerOverride, isFromWorkspace, fail }: DiscoveryOptions): void {
  const { authorizationUrl, tokenUrl, registrationUrl, issuer } = oauth;
  const endpoints = Object.entries({ authorizationUrl, tokenUrl, registrationUrl });
  const [named] = endpoints.flatMap(([setting, url]) => (url === undefined ? [] : [setting]));
  if (isFromWorkspace !== true || named === undefined) return;
  const isWhole = authorizationUrl !== undefined && tokenUrl !== undefined;
  if (isWhole && issuer === undefined && issuerOverride === undefined) return;
  const beside = issuerOverride === undefined ? '"oauth.issuer"' : "your issuerOverride";
  throw fail(
    aboutIssuer,
    isWhole
      ? `the workspace sets "oauth.${named}" together with ${beside}, so Fairlead cannot tell which authorization server the endpoint belongs to`
      : `the workspace sets "oauth.${named}", but not all endpoints, so Fairlead cannot tell which authorization server the endpoint belongs to`,
    {
      next: 'Set both "authorizationUrl" and "tokenUrl" without an issuer, or none of them; or set them in your user settings.',
    },
  );
}

/** The resource metadata. Undefined if the server has none, as in protocol version 2025-03-26. */
async function findResource({
  serverUrl,
  challenge,
  fetch,
  fail,
}: DiscoveryOptions): Promise<ResourceMetadata | undefined> {
  const { resourceMetadata: told = "" } = challenge;
  const first = told === "" ? undefined : parseUrl(told, serverUrl);
  const urls = [...(first ? [first.href] : []), ...resourceMetadataUrls(serverUrl)];
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

/** The issuer in the user's settings, or else the issuer that the server names. Undefined if neither names one. */
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

/**
 * The authorization server metadata. May be undefined in protocol version 2025-03-26, or if the settings name the
 * endpoints.
 */
async function findServer(
  { fetch, fail }: DiscoveryOptions,
  issuer: string,
  { isLegacy, isPinned }: { readonly isLegacy: boolean; readonly isPinned: boolean },
): Promise<ServerMetadata | undefined> {
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
    // In protocol version 2025-03-26 the expected issuer is the server's origin. The real issuer may end with a slash.
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
  metadata: ServerMetadata | undefined,
  legacyOrigin: string | undefined,
): Endpoints {
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
    oauth.authorizationUrl ?? metadata?.authorization ?? fallback("/authorize"),
  );
  const token = checked("token", oauth.tokenUrl ?? metadata?.token ?? fallback("/token"));
  const isIncomplete = authorization === undefined && !isMachine;
  if (isIncomplete || token === undefined)
    throw fail(aboutIssuer, `the metadata has no ${isIncomplete ? "authorization" : "token"} endpoint`);
  return {
    token,
    ...present({
      authorization,
      registration: checked("registration", oauth.registrationUrl ?? metadata?.registration ?? fallback("/register")),
      revocation: checked("revocation", metadata?.revocation),
      device: checked("device authorization", metadata?.device),
    }),
  };
}

/**
 * The token endpoint's host, for messages. Undefined if the issuer has the same host, which the messages already name.
 */
export function otherTokenHost(issuer: string, tokenEndpoint: string): string | undefined {
  const { host } = new URL(tokenEndpoint);
  return parseUrl(issuer)?.host === host ? undefined : host;
}

interface ScopeOptions {
  readonly plan: SignInPlan;
  /** Scopes from the command line or the settings, used without changes. */
  readonly chosen: readonly string[] | undefined;
  /**
   * Scopes that an earlier sign-in requested or got. They were not enough, so the next sign-in requests them and
   * further scopes.
   */
  readonly before: readonly string[] | undefined;
}

const offline = "offline_access";

/** The scopes to request. Adds `offline_access` if the authorization server announces it, and removes it otherwise. */
export function wantedScopes({ plan, chosen, before }: ScopeOptions): readonly string[] {
  if (before !== undefined) return mergeScopes(before, chosen ?? [], plan.scopes);
  if (chosen !== undefined) return chosen;
  const { scopes } = plan;
  const offered = plan.metadata?.scopes;
  /*
   * An empty list stays empty, because `offline_access` alone is useless. The list also stays unchanged if the
   * authorization server announces no scopes.
   */
  if (scopes.length === 0 || offered === undefined) return scopes;
  return offered.includes(offline) ? mergeScopes(scopes, [offline]) : scopes.filter((scope) => scope !== offline);
}
