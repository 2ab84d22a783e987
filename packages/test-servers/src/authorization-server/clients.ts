/** Knows the clients, checks their redirect URIs, and authenticates them. */

import type { Authority, Call } from "./authority.ts";
import { verifiedClaims } from "./jwt.ts";
import { plainRequest } from "./plain-request.ts";
import type { Client } from "./store.ts";

interface ClientDocument {
  readonly client_id?: string;
  readonly redirect_uris?: readonly string[];
}

export async function findClient(id: string, { settings, store }: Authority): Promise<Client | undefined> {
  const registered = store.clients.get(id);
  if (registered)
    return registered.expiresAt !== undefined && registered.expiresAt <= Date.now() ? undefined : registered;
  const prepared = settings.clients.find(({ clientId }) => clientId === id);
  if (prepared) {
    const { clientSecret: secret, authentication = "client_secret_basic", publicKey, redirectUris = [] } = prepared;
    if (publicKey) return { id, redirectUris, publicKey, authentication: "private_key_jwt" };
    if (secret) store.secrets.add(secret);
    return { id, redirectUris, ...(secret ? { secret, authentication } : { authentication: "none" }) };
  }
  return settings.acceptsMetadataDocuments && id.startsWith("https:") ? readDocument(id) : undefined;
}

/**
 * Reads a client's metadata document. The client's id is the URL of the document, and the document must name the same
 * URL.
 */
async function readDocument(id: string): Promise<Client | undefined> {
  const { status, body } = await plainRequest(id);
  if (status !== 200) return undefined;
  const { client_id: named, redirect_uris: redirectUris = [] } = JSON.parse(body) as ClientDocument;
  return named === id ? { id, redirectUris, authentication: "none" } : undefined;
}

/** Returns the authenticated client of a form; otherwise the reason why it is refused. */
export async function authenticateClient({ request, params }: Call, authority: Authority): Promise<Client | string> {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  const [name, password] = basic ? Buffer.from(basic, "base64").toString().split(":").map(formDecoded) : [];
  const client = await findClient(name ?? params.get("client_id") ?? "", authority);
  if (!client) return "Unknown client.";
  return isProven(client, { params, basic, password }, authority) ? client : "The client did not prove itself.";
}

function isProven(
  client: Client,
  { params, basic, password }: { params: URLSearchParams; basic: string | undefined; password: string | undefined },
  authority: Authority,
): boolean {
  switch (client.authentication) {
    case "none":
      return !basic && !params.has("client_secret");
    case "client_secret_basic":
      return password === client.secret;
    case "client_secret_post":
      return params.get("client_secret") === client.secret;
    case "private_key_jwt":
      return isSignedBy(client, params, authority);
  }
}

/**
 * Checks a client assertion (RFC 7523, section 3): signed with the client's key, issued by and about the client, for
 * this server, recent, and never used before.
 */
function isSignedBy({ id, publicKey }: Client, params: URLSearchParams, authority: Authority): boolean {
  const assertion = params.get("client_assertion") ?? "";
  authority.store.secrets.add(assertion);
  if (params.get("client_assertion_type") !== "urn:ietf:params:oauth:client-assertion-type:jwt-bearer") return false;
  const audiences = [authority.issuer, `${authority.issuer}/token`];
  const claims = publicKey && verifiedClaims(assertion, publicKey, { ...authority, audiences, isOnce: true });
  return claims !== undefined && claims["iss"] === id && claims["sub"] === id;
}

/**
 * Reads an Authorization header with client credentials. Both parts are encoded like a form (RFC 6749, section 2.3.1).
 */
function formDecoded(text: string): string {
  return new URLSearchParams(`x=${text}`).get("x") ?? "";
}

export function isLoopback(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
}

/**
 * Whether the redirect URI is registered. It must match exactly, but a loopback address may have any port (RFC 8252,
 * section 7.3).
 */
export function isRegistered(uri: string, { redirectUris }: Client): boolean {
  return redirectUris.some((each) => each === uri || (isLoopback(each) && withoutPort(each) === withoutPort(uri)));
}

function withoutPort(uri: string): string {
  const url = new URL(uri);
  url.port = "";
  return url.href;
}
