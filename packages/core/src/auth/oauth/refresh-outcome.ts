/** Sends a refresh request, and decides whether to replace, keep or drop the stored tokens. */

import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import { withoutSecrets } from "../../text/hidden-text.ts";
import type { Credentials, StoredTokens } from "../store/credentials.ts";
import { parameterOf } from "./challenge.ts";
import { createDpopProofs } from "./dpop.ts";
import { authCommand } from "./failure.ts";
import { requestTokens, type TokenAnswer } from "./token-request.ts";

/** What a refresh request means for the stored tokens. */
export type RefreshOutcome =
  | { readonly kind: "renewed"; readonly credentials: Credentials }
  /** The refresh token or its client is no longer valid, so the person must sign in. */
  | { readonly kind: "over"; readonly credentials: Credentials }
  /** The refresh failed for now. The stored tokens are kept. */
  | { readonly kind: "failed"; readonly error: HostError };

/** The tokens to refresh, and how to reach the authorization server. */
export interface RefreshRequest {
  readonly credentials: Credentials;
  readonly refreshToken: string;
  readonly fetch: Fetch;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** With these errors, the refresh token is no longer valid. GitHub sends `bad_refresh_token`. */
const grantIsOver: readonly string[] = ["invalid_grant", "bad_refresh_token"];
const clientIsVoid: readonly string[] = ["invalid_client", "unauthorized_client"];

/** Refreshes tokens. Never rejects. */
export async function refreshTokens(request: RefreshRequest): Promise<RefreshOutcome> {
  const { credentials, now } = request;
  let answer: TokenAnswer;
  try {
    answer = await ask(request);
  } catch (error) {
    return { kind: "failed", error: unreachable(credentials, error) };
  }
  switch (answer.kind) {
    case "tokens":
      return { kind: "renewed", credentials: { ...credentials, tokens: carriedOver(answer.tokens, credentials) } };
    case "unavailable":
      return { kind: "failed", error: unavailable(credentials, answer.status) };
    case "unusable":
      return { kind: "failed", error: failed(credentials, answer.reason) };
    case "error":
      if (grantIsOver.includes(answer.error)) return { kind: "over", credentials: withoutRefresh(credentials) };
      if (clientIsVoid.includes(answer.error)) {
        const client = { ...credentials.client, expiresAt: now() };
        return { kind: "over", credentials: { ...withoutRefresh(credentials), client } };
      }
      return { kind: "failed", error: failed(credentials, `it answered ${answer.error}`, answer.description) };
  }
}

function ask({ credentials, refreshToken, fetch, now }: RefreshRequest): Promise<TokenAnswer> {
  const { client, endpoints, resource, audiences, dpopKey } = credentials;
  return requestTokens({
    url: endpoints.token,
    client,
    grant: "refresh_token",
    parameters: { refresh_token: refreshToken, resource, audience: parameterOf(audiences) },
    fetch,
    dpop: dpopKey === undefined ? undefined : createDpopProofs(dpopKey),
    now,
  });
}

/** A response may leave out what has not changed: refresh token, scope and ID token (RFC 6749 §6). */
function carriedOver(tokens: StoredTokens, { tokens: before }: Credentials): StoredTokens {
  const { refreshToken = before?.refreshToken, scope = before?.scope, idToken = before?.idToken } = tokens;
  return { ...tokens, refreshToken, scope, idToken };
}

/** The access token stays, because it may still be valid. */
function withoutRefresh(credentials: Credentials): Credentials {
  if (credentials.tokens === undefined) return credentials;
  const { refreshToken: _, ...tokens } = credentials.tokens;
  return { ...credentials, tokens };
}

function unreachable({ serverName, issuer }: Credentials, cause: unknown): HostError {
  const reason = errorMessage(cause);
  const message = `token refresh for "${serverName}" failed: ${issuer} cannot be reached: ${reason}`;
  return new HostError("unreachable", message, { serverName, next: "Check the network, then try again.", cause });
}

function unavailable({ serverName, issuer }: Credentials, status: number): HostError {
  const message = `token refresh for "${serverName}" failed: ${issuer} answered HTTP ${status}`;
  return new HostError("http_status", message, { serverName, next: "Try again later; the sign-in is kept." });
}

function failed({ serverName, issuer, tokens }: Credentials, reason: string, description?: string): HostError {
  const message = `token refresh for "${serverName}" at ${issuer} failed: ${reason}`;
  const evidence = description && withoutSecrets(description, [tokens?.accessToken]);
  return new HostError("auth_failed", message, { serverName, next: authCommand(serverName), evidence });
}
