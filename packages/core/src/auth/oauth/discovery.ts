/** From a refused request to a plan for the sign-in: which resource, which authorization server, which endpoints and scopes. */

import { parseUrl } from "@fairlead/wire/text";
import type { Fetch } from "../../net/bounded-fetch.ts";
import { webUrl } from "../../net/open-url.ts";
import type { OAuthSettings } from "../../settings/define/definition.ts";
import { present } from "../../settings/schema/present.ts";
import type { BearerChallenge } from "./challenge.ts";
import { during, type Fail, type SignInStep } from "./failure.ts";
import {
  fetchDocument,
  type ResourceMetadata,
  type ServerMetadata,
  toResourceMetadata,
  toServerMetadata,
} from "./metadata.ts";
import { scopesIn } from "./scopes.ts";
import { covers, resourceMetadataUrls, resourceOf, serverMetadataUrls } from "./well-known.ts";

export interface DiscoveryOptions {
  readonly serverUrl: string;
  readonly challenge: BearerChallenge;
  readonly oauth: OAuthSettings;
  readonly fetch: Fetch;
  readonly fail: Fail;
  /** Those settings came with a folder, and not from the person: what they name is not vouched for by what the server names. */
  readonly isFromWorkspace?: boolean | undefined;
  /** `issuerOverride` of the person's own settings: instead of what the server names. */
  readonly issuerOverride?: string | undefined;
  /** Told when the override takes effect. */
  readonly onOverride?: (issuer: string, instead: readonly string[]) => void;
  /** Which of several; those that were chosen before need no question. */
  readonly choose?: (issuers: readonly string[]) => Promise<string>;
}

export interface SignInPlan {
  /** For every request for tokens (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  /** False: the settings name endpoints, and nobody says whose they are. */
  readonly isIssuerKnown: boolean;
  readonly endpoints: Endpoints;
  readonly metadata: Omit<ServerMetadata, "issuer" | keyof Endpoints> | undefined;
  /** What the server asks for; the settings are not in it. */
  readonly scopes: readonly string[];
  /** As in the protocol of 2025-03-26: the server itself stands for the authorization server. */
  readonly isLegacyFallback: boolean;
  /** Nobody says anything about signing in: these are the places where it would be. */
  readonly isGuess: boolean;
}

export interface Endpoints {
  readonly authorization: string;
  readonly token: string;
  readonly registration?: string;
  readonly revocation?: string;
  readonly device?: string;
}

const aboutServer: SignInStep = "the server's metadata";
const aboutIssuer: SignInStep = "the authorization server's metadata";

export async function discoverSignIn(options: DiscoveryOptions): Promise<SignInPlan> {
  const { serverUrl, challenge, oauth, fail } = options;
  checkWorkspace(options);
  const found = await findResource(options);
  if (found !== undefined && !covers(found.resource, serverUrl))
    throw fail(
      aboutServer,
      `its tokens would be for ${found.resource}, which is not this server (${resourceOf(serverUrl)})`,
      { next: `Check the address in its entry; if that is right, ask those who run the server to correct "resource".` },
    );
  const origin = new URL(serverUrl).origin;
  const isPinned = oauth.authorizationUrl !== undefined && oauth.tokenUrl !== undefined;
  // What the server names says nothing about the endpoints that the settings name.
  const issuer = await issuerFor(options, isPinned ? [] : (found?.authorizationServers ?? []));
  const isLegacy = issuer === undefined && !isPinned;
  const metadata =
    issuer === undefined && isPinned ? undefined : await findServer(options, issuer ?? origin, { isLegacy, isPinned });
  const endpoints = endpointsFor(options, metadata, isLegacy ? origin : undefined);
  return {
    resource: found?.resource ?? resourceOf(serverUrl),
    // Where nobody is named, it is who gets the code and gives out the tokens.
    issuer: metadata?.issuer ?? issuer ?? new URL(endpoints.token).origin,
    isIssuerKnown: issuer !== undefined || metadata !== undefined,
    endpoints,
    metadata,
    scopes: challenge.scope === undefined ? (found?.scopes ?? []) : scopesIn(challenge.scope),
    isLegacyFallback: isLegacy,
    isGuess: isLegacy && found === undefined && metadata === undefined,
  };
}

/** A workspace may name all endpoints itself. One of them beside those of an authorization server would be taken for that one's own. */
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
      ? `the workspace sets "oauth.${named}" beside ${beside}, and whose it is cannot be told`
      : `the workspace sets "oauth.${named}", but not all endpoints, and whose it is cannot be told`,
    {
      next: 'Its entry needs both "authorizationUrl" and "tokenUrl" without an issuer, or none of them. In your user settings any of them may stand.',
    },
  );
}

/** Undefined: the server says nothing about itself, as it was in 2025-03-26. */
async function findResource({
  serverUrl,
  challenge,
  fetch,
  fail,
}: DiscoveryOptions): Promise<ResourceMetadata | undefined> {
  const { resourceMetadata: told = "" } = challenge;
  const first = told === "" ? undefined : parseUrl(told, serverUrl);
  const urls = [...(first ? [first.href] : []), ...resourceMetadataUrls(serverUrl)];
  let silent: string | undefined;
  for (const url of urls) {
    const answer = await during(fetchDocument(fetch, url), (words, cause) =>
      fail(aboutServer, `${url} cannot be read: ${words}`, { cause }),
    );
    if (answer.kind === "absent") continue;
    const metadata = toResourceMetadata(answer.document);
    if (metadata !== undefined) return metadata;
    silent ??= url;
  }
  if (silent !== undefined)
    throw fail(aboutServer, `${silent} does not say which resource it is about`, {
      next: 'Ask those who run the server to name it there, as "resource".',
    });
  return undefined;
}

/** What the person says goes before what the server says. Undefined: nobody names one. */
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
          ? "Ask those who run the server to correct its metadata."
          : `Correct ${issuerOverride === undefined ? '"oauth.issuer"' : '"issuerOverride"'} in the settings.`,
    });
  return issuer;
}

/** Undefined: it says nothing about itself, and need not. */
async function findServer(
  { fetch, fail }: DiscoveryOptions,
  issuer: string,
  { isLegacy, isPinned }: { readonly isLegacy: boolean; readonly isPinned: boolean },
): Promise<ServerMetadata | undefined> {
  const failures: string[] = [];
  for (const url of serverMetadataUrls(issuer)) {
    const answer = await during(fetchDocument(fetch, url), (words, cause) =>
      fail(aboutIssuer, `${url} cannot be read: ${words}`, { cause }),
    );
    const metadata = answer.kind === "found" ? toServerMetadata(answer.document) : undefined;
    if (metadata === undefined) {
      failures.push(answer.kind === "found" ? `${url} names no issuer` : `${url} answered ${answer.status}`);
      continue;
    }
    // Where the server's origin stands for the issuer, nobody has told us how it spells itself.
    const isSame = metadata.issuer === issuer || (isLegacy && metadata.issuer === `${issuer}/`);
    if (!isSame)
      throw fail(aboutIssuer, `${url} is about ${metadata.issuer}, not about ${issuer}`, {
        next: `Ask those who run the server which of them it is. If you know: "oauth": {"issuer": "…"} in its entry.`,
      });
    return metadata;
  }
  if (isLegacy || isPinned) return undefined;
  throw fail(aboutIssuer, `${issuer} says nothing about itself: ${failures.join("; ")}`);
}

function endpointsFor(
  { oauth, fail }: DiscoveryOptions,
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
        next: 'Ask those who run it for https addresses, and check "oauth" in the entry if it names this one.',
      });
    return safe.href;
  };
  const authorization = checked(
    "authorization",
    oauth.authorizationUrl ?? metadata?.authorization ?? fallback("/authorize"),
  );
  const token = checked("token", oauth.tokenUrl ?? metadata?.token ?? fallback("/token"));
  if (authorization === undefined || token === undefined)
    throw fail(aboutIssuer, `it names no ${authorization === undefined ? "authorization" : "token"} endpoint`);
  return {
    authorization,
    token,
    ...present({
      registration: checked("registration", oauth.registrationUrl ?? metadata?.registration ?? fallback("/register")),
      revocation: checked("revocation", metadata?.revocation),
      device: checked("device authorization", metadata?.device),
    }),
  };
}
