/** Exchanges an authorization code or a device code for tokens, and reads the response (RFC 6749 §5). */

import type { JsonObject } from "@fairlead/wire";
import { parseObject, textIn } from "@fairlead/wire/json";
import type { Fetch } from "../../net/bounded-fetch.ts";
import { present } from "../../settings/schema/present.ts";
import { withoutSecrets } from "../../text/hidden-text.ts";
import type { StoredClient, StoredTokens } from "../store/credentials.ts";
import type { SignInPlan } from "./discovery.ts";
import { clientProof, type DpopBinding, postForm } from "./endpoint-request.ts";
import { explainFailure, type Fail } from "./failure.ts";

export interface TokenRequestOptions {
  readonly plan: SignInPlan;
  readonly client: StoredClient;
  readonly audiences: readonly string[];
  /** A `fetch` that follows no redirects, because requests contain secrets. */
  readonly post: Fetch;
  /** The wall clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly fail: Fail;
  /** The key that the tokens are bound to. Absent for bearer tokens. */
  readonly dpop?: DpopBinding | undefined;
}

const longestReason = 300;

/**
 * Exchanges the code for tokens. Returns `invalid_client` if the authorization server does not know the client.
 *
 * @throws HostError `auth_failed`
 */
export async function exchangeCode(
  { code, verifier, redirectUri }: { readonly code: string; readonly verifier: string; readonly redirectUri: string },
  options: TokenRequestOptions,
): Promise<StoredTokens | "invalid_client"> {
  const grant = { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirectUri };
  const answer = await askForTokens(grant, options);
  if (answer.kind === "tokens") return answer.tokens;
  if (answer.kind === "error" && answer.error === "invalid_client") return "invalid_client";
  throw options.fail(
    "token request",
    `${options.plan.issuer} returned no tokens: ${reasonIn(answer, [code, verifier])}`,
  );
}

/** Sends a token request. @throws HostError `auth_failed` if the endpoint cannot be reached */
export async function askForTokens(
  grant: Readonly<Record<string, string>>,
  { plan, client, audiences, post, now, fail, dpop }: TokenRequestOptions,
): Promise<TokenAnswer> {
  const askedAt = now();
  const { token: url } = plan.endpoints;
  const audience = audiences.length > 0 && { audience: audiences.join(" ") };
  const parameters = { ...grant, resource: plan.resource, ...audience };
  const proof = clientProof(client);
  const asked = postForm({ url, proof, parameters, fetch: post, dpop }).then((response) =>
    readTokenAnswer(response, askedAt, dpop === undefined ? "Bearer" : "DPoP"),
  );
  return explainFailure(asked, (words, cause) =>
    fail("token request", `${url} cannot be reached: ${words}`, { cause }),
  );
}

/** Explains why the response has no tokens. Hides the secrets that an error description may quote. */
export function reasonIn(
  answer: Exclude<TokenAnswer, { readonly kind: "tokens" }>,
  secrets: readonly string[],
): string {
  switch (answer.kind) {
    case "error": {
      const words = answer.description === undefined ? answer.error : `${answer.error}: ${answer.description}`;
      return withoutSecrets(words, secrets).slice(0, longestReason);
    }
    case "unavailable":
      return `the token endpoint answered HTTP ${answer.status}; try again later`;
    case "unusable":
      return answer.reason;
  }
}

/** A checked response of a token endpoint. */
export type TokenAnswer =
  | { readonly kind: "tokens"; readonly tokens: StoredTokens }
  /** An error code of RFC 6749 §5.2, such as `invalid_grant`. */
  | { readonly kind: "error"; readonly error: string; readonly description?: string }
  /** The endpoint is overloaded or broken: a later request may succeed. */
  | { readonly kind: "unavailable"; readonly status: number }
  /** The response is invalid. `reason` says why, as a text for people. */
  | { readonly kind: "unusable"; readonly reason: string };

/** The longest token, in characters. Three tokens and a client registration must fit into one stored secret. */
const longestToken = 16_000;
const longestScope = 4_000;
const longestWord = 100;
const longestDescription = 1_000;
/** Ten years in seconds. A server that sends a larger `expires_in` probably means milliseconds or a date. */
const longestLife = 10 * 365 * 24 * 3600;

/** @param askedAt Time of the request, in milliseconds since 1970. The lifetime of the tokens begins at this time. */
export async function readTokenAnswer(response: Response, askedAt: number, tokenType = "Bearer"): Promise<TokenAnswer> {
  const { status } = response;
  const text = await response.text();
  if (status >= 500 || status === 429 || status === 408) return { kind: "unavailable", status };
  const isForm = response.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded") ?? false;
  const answer = isForm ? Object.fromEntries(new URLSearchParams(text)) : parseObject(text);
  // Checks for an error first, because GitHub sends errors with status 200.
  const error = answer && textIn(answer, "error");
  if (answer !== undefined && error !== undefined) {
    const description = textIn(answer, "error_description")?.slice(0, longestDescription);
    return { kind: "error", error: error.slice(0, longestWord), ...present({ description }) };
  }
  if (!response.ok) return { kind: "unusable", reason: `the token endpoint answered HTTP ${status}` };
  if (answer === undefined) return { kind: "unusable", reason: "the response is not a JSON object" };
  return readTokens(answer, askedAt, tokenType);
}

function readTokens(answer: JsonObject, askedAt: number, tokenType: string): TokenAnswer {
  const type = textIn(answer, "token_type");
  if (type?.toLowerCase() !== tokenType.toLowerCase()) {
    const what = type === undefined ? "missing" : `${JSON.stringify(type.slice(0, longestWord))}`;
    return { kind: "unusable", reason: `the token_type is ${what}; it must be ${tokenType}` };
  }
  const accessToken = textIn(answer, "access_token");
  if (accessToken === undefined) return { kind: "unusable", reason: "the response has no access_token" };
  const refreshToken = textIn(answer, "refresh_token");
  if (![accessToken, refreshToken ?? "x"].every(isToken)) {
    return { kind: "unusable", reason: `a token is longer than ${longestToken} characters or not ASCII` };
  }
  const idToken = textIn(answer, "id_token");
  return {
    kind: "tokens",
    tokens: {
      accessToken,
      tokenType,
      obtainedAt: askedAt,
      ...present({
        refreshToken,
        scope: textIn(answer, "scope")?.slice(0, longestScope),
        idToken: idToken !== undefined && isToken(idToken) ? idToken : undefined,
        expiresAt: expiryOf(answer["expires_in"], askedAt),
      }),
    },
  };
}

/**
 * The expiry time in milliseconds since 1970. Undefined if `expires_in` is absent or not positive. Some servers send
 * `expires_in` as text.
 */
function expiryOf(value: unknown, askedAt: number): number | undefined {
  const seconds = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== "number" || !(seconds > 0)) return undefined;
  return askedAt + Math.min(seconds, longestLife) * 1000;
}

/**
 * Whether a token can be stored and sent in a header. Allows more characters than RFC 6750 §2.1, because the tokens of
 * some servers need them.
 */
function isToken(text: string): boolean {
  return text.length <= longestToken && /^[\x21-\x7e]+$/.test(text);
}
