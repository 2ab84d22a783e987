/** Who a client is, where it may be sent back to, and whether it proves itself. */

import type { Authority, Call } from "./authority.ts";
import { plainRequest } from "./plain-request.ts";
import type { Client } from "./store.ts";

interface ClientDocument {
  readonly client_id?: string;
  readonly redirect_uris?: readonly string[];
}

export async function findClient(id: string, { settings, store }: Authority): Promise<Client | undefined> {
  const known = store.clients.get(id);
  if (known) return known.expiresAt !== undefined && known.expiresAt <= Date.now() ? undefined : known;
  const prepared = settings.clients.find(({ clientId }) => clientId === id);
  if (prepared) {
    const { clientSecret: secret, redirectUris } = prepared;
    return {
      id,
      redirectUris,
      ...(secret ? { secret, authentication: "client_secret_basic" } : { authentication: "none" }),
    };
  }
  return settings.acceptsMetadataDocuments && id.startsWith("https:") ? readDocument(id) : undefined;
}

/** The id is an address; what is there says who the client is, and names that address again. */
async function readDocument(id: string): Promise<Client | undefined> {
  const { status, body } = await plainRequest(id);
  if (status !== 200) return undefined;
  const { client_id: named, redirect_uris: redirectUris = [] } = JSON.parse(body) as ClientDocument;
  return named === id ? { id, redirectUris, authentication: "none" } : undefined;
}

/** The client that a form comes from, if it is the one it says it is. */
export async function authenticateClient({ request, params }: Call, authority: Authority): Promise<Client | undefined> {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  const [name, password] = basic ? Buffer.from(basic, "base64").toString().split(":").map(decodeURIComponent) : [];
  const client = await findClient(name ?? params.get("client_id") ?? "", authority);
  if (!client) return undefined;
  switch (client.authentication) {
    case "none":
      return basic || params.has("client_secret") ? undefined : client;
    case "client_secret_basic":
      return password === client.secret ? client : undefined;
    case "client_secret_post":
      return params.get("client_secret") === client.secret ? client : undefined;
  }
}

export function isLoopback(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
}

/** Exactly what was registered; on this computer any port will do (RFC 8252, 7.3). */
export function isRegistered(uri: string, { redirectUris }: Client): boolean {
  return redirectUris.some((each) => each === uri || (isLoopback(each) && withoutPort(each) === withoutPort(uri)));
}

function withoutPort(uri: string): string {
  const url = new URL(uri);
  url.port = "";
  return url.href;
}
