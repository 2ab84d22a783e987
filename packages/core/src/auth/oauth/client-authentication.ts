/** How a client tells a token endpoint who it is (RFC 6749 §2.3.1), in the way it was registered for. */

import type { ClientAuthentication, StoredClient } from "../store/credentials.ts";

/** What goes with a request to a token, revocation or device endpoint. */
export interface ClientProof {
  readonly headers: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, string>>;
}

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
  // A secret that the registration says is not needed is not sent either.
  return registered === "none" || registered === "client_secret_post" ? registered : "client_secret_basic";
}

/** Both halves are form-encoded before they are joined, or a colon in an ID would move the border. */
function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}
