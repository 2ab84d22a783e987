/**
 * Google's token endpoints: exchange a signed JWT, a refresh token or a workload's subject token for an access token.
 */

import { verify } from "node:crypto";
import { type Answer, json, oauthError } from "../authorization-server/answer.ts";
import type { Call } from "../authorization-server/authority.ts";
import { type Cloud, giveAccessToken, giveIdToken } from "./cloud.ts";

interface Assertion {
  readonly iss?: string;
  readonly aud?: string;
  readonly exp?: number;
  readonly scope?: string;
  readonly target_audience?: string;
}

export function answerOAuth({ params }: Call, cloud: Cloud): Answer {
  switch (params.get("grant_type") ?? "") {
    case "urn:ietf:params:oauth:grant-type:jwt-bearer":
      return takeAssertion(params.get("assertion") ?? "", cloud);
    case "refresh_token":
      return takeRefreshToken(params, cloud);
  }
  return oauthError("unsupported_grant_type", "Invalid grant_type.");
}

/** Token exchange (RFC 8693), for workloads of other platforms, and refresh tokens of people in workforce pools. */
export function answerExchange({ params, request }: Call, cloud: Cloud): Answer {
  const { clientId, clientSecret, refreshToken, email } = cloud.person;
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
  if (params.get("refresh_token") === refreshToken && request.headers.authorization === basic)
    return tokenAnswer(cloud, email, "");
  if (params.get("grant_type") !== "urn:ietf:params:oauth:grant-type:token-exchange")
    return oauthError("unsupported_grant_type", "Invalid grant_type.");
  const workload = cloud.settings.workloadOf(params.get("subject_token") ?? "", params);
  if (workload === undefined) return oauthError("invalid_grant", "The subject token is not valid.");
  return tokenAnswer(cloud, workload, params.get("scope") ?? "");
}

function takeAssertion(assertion: string, cloud: Cloud): Answer {
  const { serviceAccount } = cloud;
  const [header = "", payload = "", signature = ""] = assertion.split(".");
  const isSigned = verify(
    "sha256",
    Buffer.from(`${header}.${payload}`),
    serviceAccount.keys().publicKey,
    Buffer.from(signature, "base64url"),
  );
  if (!isSigned) return oauthError("invalid_grant", "Invalid JWT Signature.");
  const said = JSON.parse(Buffer.from(payload, "base64url").toString()) as Assertion;
  if (said.iss !== serviceAccount.email) return oauthError("invalid_grant", "Invalid grant: account not found");
  if (!said.aud?.endsWith("/token")) return oauthError("invalid_grant", "Invalid JWT: aud is not this endpoint.");
  if ((said.exp ?? 0) * 1000 <= Date.now()) return oauthError("invalid_grant", "Invalid JWT: it has expired.");
  const { email } = serviceAccount;
  if (said.target_audience) return json({ id_token: giveIdToken(cloud, email, said.target_audience) });
  if (!said.scope) return oauthError("invalid_scope", "Empty or missing scope not allowed.");
  return tokenAnswer(cloud, email, said.scope);
}

function takeRefreshToken(params: URLSearchParams, cloud: Cloud): Answer {
  const { person, settings } = cloud;
  if (params.get("client_id") !== person.clientId || params.get("client_secret") !== person.clientSecret) {
    return oauthError("invalid_client", "The OAuth client was not found.", 401);
  }
  if (settings.refreshError !== undefined) return oauthError(settings.refreshError, "Reauthentication is needed.");
  if (params.get("refresh_token") !== person.refreshToken) return oauthError("invalid_grant", "Bad Request");
  return tokenAnswer(cloud, person.email, params.get("scope") ?? "https://www.googleapis.com/auth/cloud-platform");
}

function tokenAnswer(cloud: Cloud, account: string, scope: string): Answer {
  return json({
    access_token: giveAccessToken(cloud, account, scope.split(" ")),
    expires_in: cloud.settings.expiresIn,
    scope,
    token_type: "Bearer",
  });
}
