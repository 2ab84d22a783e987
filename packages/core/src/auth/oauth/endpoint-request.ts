/** Sends requests to the endpoints of an authorization server with `oauth4webapi`. Also revokes tokens (RFC 7009). */

import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretPost,
  customFetch,
  type HttpRequestOptions,
  None,
  revocationRequest,
} from "oauth4webapi";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Credentials, StoredClient } from "../store/credentials.ts";

/** Returns the options with which `oauth4webapi` sends a request through `fetch`. */
export function sendWith<Body extends string | URLSearchParams>(
  fetch: Fetch,
  headers: Record<string, string> = {},
): HttpRequestOptions<"POST", Body> {
  return {
    headers: { "user-agent": "fairlead", ...headers },
    // The request contains secrets for this endpoint only, so it must not follow redirects.
    [customFetch]: (url, init) => fetch(url, { ...init, signal: init.signal ?? null, redirect: "error" }),
    // Which addresses may be http is decided by discovery (`webUrl`) and by `fetch`.
    [allowInsecureRequests]: true,
  };
}

/** Returns the function that authenticates the client (RFC 6749 §2.3.1), with the method that it registered. */
export function authenticationOf(client: StoredClient | undefined): ClientAuth {
  if (client === undefined) return () => {};
  const { clientSecret = "", authentication, registration } = client;
  const method = authentication ?? registration?.["token_endpoint_auth_method"];
  // A client that registered the method "none" must not send its secret.
  if (clientSecret === "" || method === "none") return None();
  return method === "client_secret_post" ? ClientSecretPost(clientSecret) : basicAuthentication(clientSecret);
}

/**
 * RFC 6749 §2.3.1 requires form encoding before Base64. `ClientSecretBasic` of `oauth4webapi` also encodes `-`, `_` and
 * `.`, which form encoding leaves as they are. Servers that do not decode would then refuse most client IDs.
 */
function basicAuthentication(clientSecret: string): ClientAuth {
  const encoded = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1);
  return (_server, { client_id }, _body, headers) =>
    headers.set("authorization", `Basic ${btoa(`${encoded(client_id)}:${encoded(clientSecret)}`)}`);
}

/** The result of a revocation. Sign-out goes on even after `failed`. */
export type Revocation = "revoked" | "unsupported" | "failed";

/**
 * Revokes both tokens. The refresh token comes first, because most servers then revoke the access token too. Never
 * rejects.
 */
export async function revokeTokens({ endpoints, client, tokens }: Credentials, fetch: Fetch): Promise<Revocation> {
  const { revocation } = endpoints;
  if (revocation === undefined || tokens === undefined) return "unsupported";
  const { refreshToken, accessToken } = tokens;
  const revoke = async (token: string, hint: string): Promise<boolean> => {
    const server = { issuer: revocation, revocation_endpoint: revocation };
    const options = { ...sendWith(fetch), additionalParameters: { token_type_hint: hint } };
    const sent = revocationRequest(server, { client_id: client.clientId }, authenticationOf(client), token, options);
    return (await sent.catch(() => undefined))?.ok === true;
  };
  const isRefreshRevoked = refreshToken === undefined || (await revoke(refreshToken, "refresh_token"));
  const isAccessRevoked = await revoke(accessToken, "access_token");
  return isRefreshRevoked && isAccessRevoked ? "revoked" : "failed";
}
