/**
 * The grants for machines: a token for the client's own credentials or for a JWT of a trusted issuer, and an ID-JAG for
 * another server.
 */

import { type Answer, json, oauthError } from "./answer.ts";
import { type Authority, type Call, scopesIn } from "./authority.ts";
import { newIdToken, signersKey } from "./id-token.ts";
import { decode, signedClaims, verifiedClaims } from "./jwt.ts";
import type { Client, Grant } from "./store.ts";

export const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
export const tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange";
const idJag = "urn:ietf:params:oauth:token-type:id-jag";

export function machineGrant({ params }: Call, client: Client, authority: Authority): Grant | Answer {
  const { settings } = authority;
  const scopes = scopesIn(params);
  const resource = params.get("resource");
  if (params.get("grant_type") === "client_credentials" && client.authentication === "none")
    return oauthError("unauthorized_client", "A public client has no credentials.");
  if (params.get("grant_type") === jwtBearer) {
    const refused = refusedAssertion(params, client, authority);
    if (refused) return refused;
  }
  if (!scopes.every((scope) => settings.scopes.includes(scope)))
    return oauthError("invalid_scope", "There is no such scope.");
  if (settings.requiresResource && resource === null) return oauthError("invalid_target", "resource is missing.");
  return { clientId: client.id, scopes, ...(resource !== null && { resource }), isRevoked: false };
}

/**
 * Returns why the JWT is refused. Undefined if a trusted issuer made it for this server and, for an ID-JAG, for this
 * client and resource.
 */
function refusedAssertion(params: URLSearchParams, client: Client, authority: Authority): Answer | undefined {
  const assertion = params.get("assertion") ?? "";
  authority.store.secrets.add(assertion);
  const { iss } = decode(assertion.split(".")[1] ?? "") ?? {};
  const issuer = authority.settings.trustedIssuers.find((trusted) => trusted.issuer === iss);
  const expected = { ...authority, audiences: [authority.issuer, `${authority.issuer}/token`], isOnce: false };
  const claims = issuer && verifiedClaims(assertion, issuer.publicKey, expected);
  if (!claims) return oauthError("invalid_grant", "The assertion is not accepted.");
  const { client_id: clientId = client.id, resource = params.get("resource") } = claims;
  if (clientId === client.id && resource === params.get("resource")) return undefined;
  return oauthError("invalid_grant", "The assertion is for another client or another resource.");
}

/**
 * Acts as an identity provider: exchanges a person's ID token for a grant for one client at one other authorization
 * server.
 */
export function exchangeToken({ params }: Call, client: Client, { issuer, store }: Authority): Answer {
  const subject = params.get("subject_token") ?? "";
  store.secrets.add(subject);
  const [audience, resource] = [params.get("audience"), params.get("resource")];
  const isRight =
    params.get("requested_token_type") === idJag &&
    params.get("subject_token_type") === "urn:ietf:params:oauth:token-type:id_token";
  if (!isRight || !audience || !resource) return oauthError("invalid_request", "This is not how it is asked for.");
  const claims = signedClaims(subject, signersKey);
  const isLive = claims && claims["aud"] === client.id && Number(claims["exp"]) * 1000 > Date.now();
  if (!isLive) return oauthError("invalid_grant", "The ID token is not accepted.");
  const jag = newIdToken(
    {
      iss: issuer,
      sub: claims["sub"],
      aud: audience,
      resource,
      // In these tests, the client's id at the other server is its id here with "-there" at the end.
      client_id: `${client.id}-there`,
      jti: crypto.randomUUID(),
    },
    "oauth-id-jag+jwt",
  );
  store.secrets.add(jag);
  return json({ access_token: jag, issued_token_type: idJag, token_type: "N_A", expires_in: 300 });
}
