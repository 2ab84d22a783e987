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

/** What a token request of a person's sign-in needs. */
export interface TokenRequestOptions {
  readonly plan: SignInPlan;
  readonly client: StoredClient;
  readonly audiences: readonly string[];
  /** Sends the request. Must not follow redirects, because the request contains secrets. */
  readonly post: Fetch;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  readonly fail: Fail;
  /** The key that the tokens are bound to. Undefined for bearer tokens. */
  readonly dpop?: DpopBinding | undefined;
}

const longestReason = 300;

/**
 * Exchanges the code for tokens. Returns `invalid_client` if the authorization server does not know the client.
 *
 * @throws HostError `auth_failed` for any other failure
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

/**
 * Sends a token request, and returns the checked response.
 *
 * @throws HostError `auth_failed` if the endpoint cannot be reached
 */
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

/** Returns why the response has no tokens. Replaces `secrets`, which the server's error description may quote. */
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

/** A token endpoint's response, after Fairlead has checked it. */
export type TokenAnswer =
  | { readonly kind: "tokens"; readonly tokens: StoredTokens }
  /** The server refused. `error` is a code of RFC 6749 §5.2, such as `invalid_grant`. */
  | { readonly kind: "error"; readonly error: string; readonly description?: string }
  /** The endpoint is overloaded or broken. A later request may succeed. */
  | { readonly kind: "unavailable"; readonly status: number }
  /** The response is invalid. `reason` explains why, for the error message. */
  | { readonly kind: "unusable"; readonly reason: string };

/** Maximum length of a token, in characters. Three tokens and a client registration must fit into one stored secret. */
const longestToken = 16_000;
const longestScope = 4_000;
const longestWord = 100;
const longestDescription = 1_000;
/** Ten years in seconds. A larger `expires_in` is probably in milliseconds, or a date. */
const longestLife = 10 * 365 * 24 * 3600;

/**
 * Reads and checks a response of a token endpoint.
 *
 * @param askedAt When the request was sent, in milliseconds since 1970. The lifetime of the tokens begins then.
 */
export async function readTokenAnswer(response: Response, askedAt: number, tokenType = "Bearer"): Promise<TokenAnswer> {
  const { status } = response;
  const text = await response.text();
  if (status >= 500 || status === 429 || status === 408) return { kind: "unavailable", status };
  const isForm = response.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded") === true;
  const answer = isForm ? Object.fromEntries(new URLSearchParams(text)) : parseObject(text);
  // GitHub sends errors with status 200, so this comes before the status check.
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
 * Returns milliseconds since 1970. Undefined if `expires_in` is missing or not positive. Some servers send it as text.
 */
function expiryOf(value: unknown, askedAt: number): number | undefined {
  const seconds = typeof value === "string" && /^\d{1,12}$/.test(value) ? Number(value) : value;
  if (typeof seconds !== "number" || !(seconds > 0)) return undefined;
  return askedAt + Math.min(seconds, longestLife) * 1000;
}

/** Allows more characters than RFC 6750 §2.1, because some servers use them in tokens. */
function isToken(text: string): boolean {
  return text.length <= longestToken && /^[\x21-\x7e]+$/.test(text);
}
