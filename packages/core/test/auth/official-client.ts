/** The official client's sign-in, step by step: what the authorization server of the tests is held against. */

import { browser, type GuardedServer } from "@fairlead/test-servers";
import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  type OAuthClientInformationFull,
  type OAuthTokens,
  refreshAuthorization,
  registerClient,
  startAuthorization,
} from "@modelcontextprotocol/client";

const redirectUri = "http://127.0.0.1:1/callback";

type Metadata = Exclude<Awaited<ReturnType<typeof discoverAuthorizationServerMetadata>>, undefined>;

export interface Started {
  readonly issuer: string;
  readonly metadata: Metadata;
  readonly resource: URL;
  readonly client: OAuthClientInformationFull;
  readonly url: URL;
  readonly verifier: string;
}

/** Up to the URL for the browser. */
export async function start({ url }: Pick<GuardedServer, "url">, scope?: string): Promise<Started> {
  const refused = await fetch(url, { method: "POST", body: "{}" });
  const { resourceMetadataUrl } = extractWWWAuthenticateParams(refused);
  const described = await discoverOAuthProtectedResourceMetadata(url, resourceMetadataUrl && { resourceMetadataUrl });
  const issuer = described.authorization_servers?.[0] ?? "";
  const metadata = await discoverAuthorizationServerMetadata(issuer);
  if (!metadata) throw new Error(`no metadata of ${issuer}`);
  const clientMetadata = {
    redirect_uris: [redirectUri],
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token"],
  };
  const client = await registerClient(issuer, { metadata, clientMetadata });
  const resource = new URL(described.resource);
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
    metadata,
    clientInformation: client,
    redirectUrl: redirectUri,
    resource,
    state: "a state",
    ...(scope && { scope }),
  });
  return { issuer, metadata, resource, client, url: authorizationUrl, verifier: codeVerifier };
}

/** What the person is sent back with after saying this; nothing listens there. */
export async function answer(url: URL, says: "approve" | "deny" = "approve"): Promise<URLSearchParams> {
  return new URL((await browser(url, { says, visits: false })).address).searchParams;
}

export function exchange(started: Started, answered: URLSearchParams): Promise<OAuthTokens> {
  const { issuer, metadata, client, resource, verifier } = started;
  return exchangeAuthorization(issuer, {
    metadata,
    clientInformation: client,
    authorizationCode: answered.get("code") ?? "",
    ...(answered.has("iss") && { iss: answered.get("iss") ?? "" }),
    codeVerifier: verifier,
    redirectUri,
    resource,
  });
}

export function refresh({ issuer, metadata, client, resource }: Started, refreshToken: string): Promise<OAuthTokens> {
  return refreshAuthorization(issuer, { metadata, clientInformation: client, refreshToken, resource });
}

export async function signIn(
  server: Pick<GuardedServer, "url">,
  scope?: string,
): Promise<Started & { readonly tokens: OAuthTokens }> {
  const started = await start(server, scope);
  return { ...started, tokens: await exchange(started, await answer(started.url)) };
}

/** The server's status for a call of its tool with this token. */
export async function call({ url }: Pick<GuardedServer, "url">, accessToken: string): Promise<number> {
  const { status } = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${accessToken}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: {} } }),
  });
  return status;
}
