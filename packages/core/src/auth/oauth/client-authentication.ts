/** Authenticates the client at the token endpoint (RFC 6749 §2.3.1), with the method that it is registered for. */

import type { ClientAuthentication, StoredClient } from "../store/credentials.ts";

/** Headers and parameters that authenticate a request to a token, revocation or device endpoint. */
export interface ClientProof {
  readonly headers: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The proof for a stored client. */
export function clientProof(client: StoredClient): ClientProof {
  const { clientId, clientSecret = "" } = client;
  switch (authenticationOf(client)) {
    case "none":
      return { headers: {}, parameters: { client_id: clientId } };
    case "client_secret_post":
      return { headers: {}, parameters: { client_id: clientId, client_secret: clientSecret } };
    case "client_secret_basic": {
      const pair = Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString("base64");
      return { headers: { authorization: `Basic ${pair}` }, parameters: {} };
    }
  }
}

function authenticationOf({ clientSecret, authentication, registration }: StoredClient): ClientAuthentication {
  if (clientSecret === undefined) return "none";
  const registered = authentication ?? registration?.["token_endpoint_auth_method"];
  // With the method "none" the secret is not sent.
  return registered === "none" || registered === "client_secret_post" ? registered : "client_secret_basic";
}

/** RFC 6749 requires form encoding; it also protects a colon in the ID. */
function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}
