/** Dynamic client registration (RFC 7591). */

import { randomUUID } from "node:crypto";
import { type Answer, json, oauthError } from "./answer.ts";
import type { Authority, Call } from "./authority.ts";
import { isLoopback } from "./clients.ts";
import { newSecret } from "./store.ts";

interface Registration {
  readonly redirect_uris?: readonly string[];
  readonly application_type?: string;
  readonly grant_types?: readonly string[];
}

export function answerRegistration({ request }: Call, { issuer, settings, store }: Authority): Answer {
  if (settings.registration !== "open") {
    return oauthError("access_denied", "Clients are registered by hand here.", 403);
  }
  const asked = JSON.parse(request.body) as Registration;
  const { redirect_uris: redirectUris = [], application_type: type = "web", grant_types: grants = [] } = asked;
  if (redirectUris.length === 0) return oauthError("invalid_redirect_uri", "There must be at least one.");
  if (type !== "native" && redirectUris.some(isLoopback)) {
    return oauthError("invalid_redirect_uri", "Only a native application may be sent back to this computer.");
  }
  if (!grants.includes("authorization_code")) {
    return oauthError("invalid_client_metadata", "grant_types must include authorization_code.");
  }
  const id = `client-${randomUUID()}`;
  const { clientAuthentication: authentication, clientSecretLife: life } = settings;
  const secret = authentication === "none" ? undefined : newSecret(store, "client-secret");
  const expiresAt = Date.now() + life * 1000;
  store.clients.set(id, {
    id,
    authentication,
    redirectUris,
    ...(secret && { secret }),
    ...(life > 0 && { expiresAt }),
  });
  const expiry = { client_secret: secret, client_secret_expires_at: life > 0 ? Math.floor(expiresAt / 1000) : 0 };
  return json(
    {
      ...asked,
      client_id: id,
      client_id_issued_at: Math.floor(Date.now() / 1000),
      ...(secret && expiry),
      token_endpoint_auth_method: authentication,
      // This server does not use these two members, but a client must store them.
      registration_client_uri: `${issuer}/register/${id}`,
      registration_access_token: newSecret(store, "registration"),
    },
    201,
  );
}
