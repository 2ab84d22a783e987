/** Asks for new tokens with a refresh token, and says what that means for the old ones. */

import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import type { Fetch } from "../../net/bounded-fetch.ts";
import type { Credentials, StoredTokens } from "../store/credentials.ts";
import { postForm } from "./endpoint-request.ts";
import { authCommand } from "./failure.ts";
import { readTokenAnswer, type TokenAnswer } from "./token-answer.ts";

export type RefreshOutcome =
  | { readonly kind: "renewed"; readonly credentials: Credentials }
  /** This refresh token, or the client it belongs to, will never work again. */
  | { readonly kind: "over"; readonly credentials: Credentials }
  /** Nothing is decided: everything is kept. */
  | { readonly kind: "failed"; readonly error: HostError };

export interface RefreshRequest {
  readonly credentials: Credentials;
  readonly refreshToken: string;
  readonly fetch: Fetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The second is GitHub's own word. */
const grantIsOver: readonly string[] = ["invalid_grant", "bad_refresh_token"];
const clientIsVoid: readonly string[] = ["invalid_client", "unauthorized_client"];

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
      return { kind: "failed", error: failed(credentials, `it answered ${answer.error}`, told(answer, request)) };
  }
}

async function ask({ credentials, refreshToken, fetch, now }: RefreshRequest): Promise<TokenAnswer> {
  const askedAt = now();
  const { client, endpoints, resource, audiences } = credentials;
  const parameters = {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    resource,
    ...(audiences === undefined ? {} : { audience: audiences.join(" ") }),
  };
  return readTokenAnswer(await postForm({ url: endpoints.token, client, parameters, fetch }), askedAt);
}

/** What an answer leaves out stays as it was (RFC 6749 §6). */
function carriedOver(tokens: StoredTokens, { tokens: before }: Credentials): StoredTokens {
  const { refreshToken, scope, idToken } = { ...before, ...tokens };
  return {
    ...tokens,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(scope === undefined ? {} : { scope }),
    ...(idToken === undefined ? {} : { idToken }),
  };
}

/** The access token may still work for a while. */
function withoutRefresh(credentials: Credentials): Credentials {
  if (credentials.tokens === undefined) return credentials;
  const { refreshToken: _, ...tokens } = credentials.tokens;
  return { ...credentials, tokens };
}

/** An explanation may quote what was sent; that is not for people or logs. */
function told(answer: { readonly description?: string }, { credentials, refreshToken }: RefreshRequest): string {
  const secrets = [refreshToken, credentials.client.clientSecret, credentials.tokens?.accessToken];
  return secrets.reduce<string>(
    (text, secret) => (secret ? text.replaceAll(secret, "…") : text),
    answer.description ?? "",
  );
}

function unreachable({ serverName, issuer }: Credentials, cause: unknown): HostError {
  const reason = errorMessage(cause);
  const message = `the sign-in of "${serverName}" could not be renewed: ${issuer} cannot be reached: ${reason}`;
  return new HostError("unreachable", message, { serverName, next: "Check the network, then try again.", cause });
}

/** Another process is at it; what is wrong there is not known here. */
export function notFinished({ serverName, issuer }: Credentials, cause: unknown): HostError {
  const message = `the sign-in of "${serverName}" is being renewed by another process, and ${issuer} does not answer it`;
  return new HostError("unreachable", message, {
    serverName,
    next: "Try again in a while: the sign-in was kept.",
    cause,
  });
}

function unavailable({ serverName, issuer }: Credentials, status: number): HostError {
  const message = `the sign-in of "${serverName}" could not be renewed: ${issuer} answered with the HTTP status ${status}`;
  return new HostError("http_status", message, { serverName, next: "Try again in a while: the sign-in was kept." });
}

function failed({ serverName, issuer }: Credentials, reason: string, evidence = ""): HostError {
  const message = `the sign-in of "${serverName}" could not be renewed at ${issuer}: ${reason}`;
  const next = authCommand(serverName);
  return new HostError("auth_failed", message, { serverName, next, ...(evidence === "" ? {} : { evidence }) });
}
