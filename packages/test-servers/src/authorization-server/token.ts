/** The token endpoint: exchanges a code, a refresh token or a device code for tokens. */

import { createHash } from "node:crypto";
import { type Answer, json, oauthError } from "./answer.ts";
import { type Authority, type Call, scopesIn } from "./authority.ts";
import { authenticateClient } from "./clients.ts";
import { deviceGrant, deviceGrantType } from "./device.ts";
import { nonce, readProof } from "./dpop.ts";
import { newIdToken } from "./id-token.ts";
import { exchangeToken, jwtBearer, machineGrant, tokenExchange } from "./machine-grants.ts";
import { type Client, type Grant, newAccessToken, newRefreshToken, spend } from "./store.ts";

const unsaidLife = 3600;

export async function answerToken(call: Call, authority: Authority): Promise<Answer> {
  const { grantTypes } = authority.settings;
  const grantType = call.params.get("grant_type");
  if (grantType !== null && grantTypes && !grantTypes.includes(grantType))
    return oauthError("unsupported_grant_type", "This is not granted here.");
  // A workload sends only its JWT and need not be a registered client.
  const isNameless = grantType === jwtBearer && !call.params.has("client_id") && !call.request.headers.authorization;
  const client = isNameless
    ? ({ id: "workload", authentication: "none", redirectUris: [] } as const)
    : await authenticateClient(call, authority);
  if (typeof client === "string") return oauthError("invalid_client", client, 401);
  const boundTo = readProof(call, authority);
  if (typeof boundTo === "object") return boundTo;
  const answer = await grantFor(call, client, { ...authority, boundTo });
  return authority.settings.dpop === "nonce"
    ? { ...answer, headers: { ...answer.headers, "dpop-nonce": nonce } }
    : answer;
}

/** The authority, with the key that the request proves, if there is one. */
interface Bound extends Authority {
  readonly boundTo: string | undefined;
}

async function grantFor(call: Call, client: Client, authority: Bound): Promise<Answer> {
  switch (call.params.get("grant_type")) {
    case "authorization_code":
      return exchangeCode(call.params, client, authority);
    case "refresh_token":
      return refresh(call.params, client, authority);
    case deviceGrantType: {
      const outcome = deviceGrant(call.params.get("device_code") ?? "", client, authority);
      return typeof outcome === "string"
        ? oauthError(outcome, "The device has to wait, or to give up.")
        : give(outcome, authority);
    }
    case "client_credentials":
    case jwtBearer: {
      const outcome = machineGrant(call, client, authority);
      return "status" in outcome ? outcome : give(outcome, authority, [], { isMachine: true });
    }
    case tokenExchange:
      return exchangeToken(call, client, authority);
    case null:
      return oauthError("invalid_request", "grant_type is missing.");
  }
  return oauthError("unsupported_grant_type", "This is not granted here.");
}

function exchangeCode(params: URLSearchParams, client: Client, authority: Bound): Answer {
  const verifier = params.get("code_verifier") ?? "";
  authority.store.secrets.add(verifier);
  const code = authority.store.codes.get(params.get("code") ?? "");
  if (!code || code.request.clientId !== client.id || code.expiresAt <= Date.now()) {
    return oauthError("invalid_grant", "The code is not valid.");
  }
  if (params.get("redirect_uri") !== code.request.redirectUri) {
    return oauthError("invalid_grant", "redirect_uri is not the one that the code was sent to.");
  }
  if (createHash("sha256").update(verifier).digest("base64url") !== code.request.challenge) {
    return oauthError("invalid_grant", "code_verifier does not match.");
  }
  if (!spend(code)) return oauthError("invalid_grant", "The code was used before.");
  return wrongTarget(params, code.grant, authority) ?? give(code.grant, authority);
}

function refresh(params: URLSearchParams, client: Client, authority: Bound): Answer {
  const { store, settings } = authority;
  const presented = params.get("refresh_token") ?? "";
  const token = store.refreshTokens.get(presented);
  if (!token || token.grant.clientId !== client.id)
    return oauthError("invalid_grant", "The refresh token is not valid.");
  const target = wrongTarget(params, token.grant, authority);
  if (target) return target;
  const scopes = scopesIn(params);
  if (!scopes.every((scope) => token.grant.scopes.includes(scope))) {
    return oauthError("invalid_scope", "A refresh cannot ask for more.");
  }
  if (settings.refreshTokens === "rotating") {
    if (!spend(token)) return oauthError("invalid_grant", "The refresh token was used before, or its grant has ended.");
    return give(token.grant, authority, scopes);
  }
  if (token.grant.isRevoked) return oauthError("invalid_grant", "The grant has ended.");
  return give(token.grant, authority, scopes, { isSameRefreshToken: true });
}

function wrongTarget(params: URLSearchParams, grant: Grant, { settings }: Authority): Answer | undefined {
  if (!settings.requiresResource || params.get("resource") === grant.resource) return undefined;
  return oauthError("invalid_target", "resource is not the one that was authorized.");
}

function give(
  grant: Grant,
  { issuer, settings, store, now, boundTo }: Bound,
  narrowed: readonly string[] = [],
  { isSameRefreshToken = false, isMachine = false } = {},
): Answer {
  const scopes = narrowed.length > 0 ? narrowed : grant.scopes;
  const { expiresIn, refreshTokens, tokenType, account } = settings;
  const isRefreshable = refreshTokens !== "none" && !isSameRefreshToken && !isMachine;
  const expiresAt = now() + (expiresIn ?? unsaidLife) * 1000;
  return json({
    access_token: newAccessToken(store, grant, { scopes, expiresAt, ...(boundTo && { boundTo }) }),
    token_type: boundTo ? "DPoP" : tokenType,
    ...(expiresIn !== undefined && { expires_in: expiresIn }),
    ...(isRefreshable && { refresh_token: newRefreshToken(store, grant) }),
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(scopes.includes("openid") && { id_token: newIdToken({ iss: issuer, aud: grant.clientId, sub: account }) }),
  });
}
