/** Sends forms to the endpoints of an authorization server. Also revokes tokens (RFC 7009). */

import type { Fetch } from "../../net/bounded-fetch.ts";
import type { ClientAuthentication, Credentials, StoredClient } from "../store/credentials.ts";
import type { DpopProofs } from "./dpop.ts";

/** One form for an endpoint, and what authenticates the client. */
export interface EndpointRequest {
  readonly url: string;
  readonly proof: ClientProof;
  /** Creates a new client proof if the request must be sent again, because a proof can be used only once. */
  readonly renewProof?: () => Promise<ClientProof>;
  readonly parameters: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  /** If set, the tokens in the response are bound to this key (RFC 9449). */
  readonly dpop?: DpopBinding | undefined;
}

/** A key's DPoP proofs, and the clock for their time. */
export interface DpopBinding {
  readonly proofs: DpopProofs;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** Sends the form. Rejects with the error of `fetch`. The server may have received the form even then. */
export async function postForm(request: EndpointRequest): Promise<Response> {
  const { url, dpop } = request;
  const response = await post(request);
  const nonce = response.headers.get("dpop-nonce");
  const isNew = nonce !== null && dpop?.proofs.keepNonce(url, nonce) === true;
  // The server requires a nonce in the DPoP proof. Fairlead sends the request again with that nonce (RFC 9449 §8).
  const isDemanded = isNew && !response.ok && (await response.clone().text()).includes("use_dpop_nonce");
  return isDemanded ? post({ ...request, proof: (await request.renewProof?.()) ?? request.proof }) : response;
}

function post({ url, proof, parameters, fetch, dpop }: EndpointRequest): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      accept: "application/json",
      ...proof.headers,
      ...(dpop && { dpop: dpop.proofs.proofFor({ method: "POST", url, now: dpop.now() }) }),
    },
    body: new URLSearchParams({ ...parameters, ...proof.parameters }).toString(),
    // The form contains secrets for this endpoint only.
    redirect: "error",
  });
}

/** Headers and form parameters that authenticate the client. */
export interface ClientProof {
  readonly headers: Readonly<Record<string, string>>;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Returns what authenticates the client (RFC 6749 §2.3.1), with the method that it registered. */
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
  // A client that registered the method "none" must not send its secret.
  return registered === "none" || registered === "client_secret_post" ? registered : "client_secret_basic";
}

/** RFC 6749 §2.3.1 requires form encoding before Base64. */
function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

/** The result of a revocation. Sign-out goes on even after `failed`. */
export type Revocation = "revoked" | "unsupported" | "failed";

/**
 * Revokes both tokens. The refresh token comes first, because most servers then revoke the access token too. Never
 * rejects.
 */
export async function revokeTokens({ endpoints, client, tokens }: Credentials, fetch: Fetch): Promise<Revocation> {
  const url = endpoints.revocation;
  if (url === undefined || tokens === undefined) return "unsupported";
  const { refreshToken, accessToken } = tokens;
  const revoke = async (token: string, hint: string) => {
    const parameters = { token, token_type_hint: hint };
    const response = await postForm({ url, proof: clientProof(client), parameters, fetch }).catch(() => undefined);
    return response?.ok === true;
  };
  const isRefreshRevoked = refreshToken === undefined || (await revoke(refreshToken, "refresh_token"));
  const isAccessRevoked = await revoke(accessToken, "access_token");
  return isRefreshRevoked && isAccessRevoked ? "revoked" : "failed";
}
