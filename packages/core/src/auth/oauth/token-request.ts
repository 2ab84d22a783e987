/** Requests tokens with any grant, and reads the response (RFC 6749 §5). */

import type { JsonObject } from "@fairlead/wire";
import { parseObject, textIn } from "@fairlead/wire/json";
import { type ClientAuth, genericTokenEndpointRequest } from "oauth4webapi";
import type { Fetch } from "../../net/bounded-fetch.ts";
import { withoutSecrets } from "../../text/hidden-text.ts";
import type { StoredClient, StoredTokens } from "../store/credentials.ts";
import { parameterOf } from "./challenge.ts";
import type { SignInPlan } from "./discovery.ts";
import type { DpopProofs } from "./dpop.ts";
import { authenticationOf, sendWith } from "./endpoint-request.ts";
import { clockLeadOf, explainFailure, type Fail } from "./failure.ts";

/** A token request: the grant, and the client that sends it. */
export interface TokenRequest {
  /** The token endpoint. */
  readonly url: string;
  /** Undefined if the grant needs no client. */
  readonly client: StoredClient | undefined;
  /** Authenticates the client. Default: with its secret. */
  readonly authenticate?: ClientAuth | undefined;
  readonly grant: string;
  /** Parameters that are undefined are not sent. */
  readonly parameters: Readonly<Record<string, string | undefined>>;
  /** Sends the request. Must not follow redirects, because the request contains secrets. */
  readonly fetch: Fetch;
  /** If set, the tokens in the response must be bound to this key (DPoP, RFC 9449). */
  readonly dpop?: DpopProofs | undefined;
  /** The `token_type` of the response. Default: `DPoP` with a key, otherwise `Bearer`. `N_A` stands for an ID-JAG. */
  readonly tokenType?: "N_A";
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** A token endpoint's response, after Fairlead has checked it. */
export type TokenAnswer =
  | { readonly kind: "tokens"; readonly tokens: StoredTokens }
  /** The server refused. `error` is a code of RFC 6749 §5.2, such as `invalid_grant`. Contains no secrets. */
  | {
      readonly kind: "error";
      readonly error: string;
      readonly description?: string;
      /** How far this machine's clock is ahead of the server's, in milliseconds. */
      readonly clockLead?: number;
    }
  /** The endpoint is overloaded or broken. A later request may succeed. */
  | { readonly kind: "unavailable"; readonly status: number }
  /** The response is invalid. `reason` explains why, for the error message. */
  | { readonly kind: "unusable"; readonly reason: string };

/** The token type of an ID-JAG, a JWT that only one authorization server accepts. */
export const idJag = "urn:ietf:params:oauth:token-type:id-jag";
/** The server's error description may quote these parameters of the request. */
const secretParameters = [
  "code",
  "code_verifier",
  "device_code",
  "refresh_token",
  "assertion",
  "subject_token",
  "client_secret",
  "client_assertion",
];

/** Sends the request, and returns the checked response. Rejects with the error of `fetch`. */
export async function requestTokens(request: TokenRequest): Promise<TokenAnswer> {
  const { url, client, authenticate = authenticationOf(client), grant, parameters, fetch, dpop, now } = request;
  const askedAt = now();
  const secrets = new Set([client?.clientSecret]);
  const authenticateAndNote: ClientAuth = async (server, given, body, headers) => {
    await authenticate(server, given, body, headers);
    for (const name of secretParameters) secrets.add(body.get(name) ?? undefined);
    secrets.add(headers.get("authorization")?.replace("Basic ", ""));
  };
  const send = (): Promise<Response> =>
    genericTokenEndpointRequest(
      { issuer: url, token_endpoint: url },
      { client_id: client?.clientId || "none" },
      authenticateAndNote,
      grant,
      Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      sendWith(fetch, dpop && { dpop: dpop.proofFor({ method: "POST", url, now: now() }) }),
    );
  const first = await send();
  const nonce = first.headers.get("dpop-nonce");
  const isNew = nonce !== null && dpop?.keepNonce(url, nonce) === true;
  // The server requires a nonce in the DPoP proof. Fairlead sends the request again with that nonce (RFC 9449 §8).
  const isDemanded = isNew && !first.ok && (await first.clone().text()).includes("use_dpop_nonce");
  const response = isDemanded ? await send() : first;
  const { tokenType = dpop === undefined ? "Bearer" : "DPoP" } = request;
  const answer = await readTokenAnswer(response, { askedAt, tokenType, secrets: [...secrets] });
  const clockLead = clockLeadOf(response.headers.get("date"), (askedAt + now()) / 2);
  return answer.kind === "error" ? { ...answer, clockLead } : answer;
}

/** Returns why the response has no tokens. */
export function reasonIn(answer: Exclude<TokenAnswer, { readonly kind: "tokens" }>): string {
  switch (answer.kind) {
    case "error":
      return [answer.error, answer.description].filter(Boolean).join(": ").slice(0, longestReason);
    case "unavailable":
      return `the token endpoint answered HTTP ${answer.status}; try again later`;
    case "unusable":
      return answer.reason;
  }
}

const longestReason = 300;
/** Maximum length of a token, in characters. Three tokens and a client registration must fit into one stored secret. */
const longestToken = 16_000;
const longestScope = 4_000;
const longestWord = 100;
const longestDescription = 1_000;
const shortestInCode = 8;
/** Ten years in seconds. A larger `expires_in` is probably in milliseconds, or a date. */
const longestLife = 10 * 365 * 24 * 3600;

/** What the response to a token request must contain, and what messages about it must not. */
export interface ExpectedAnswer {
  /** When the request was sent, in milliseconds since 1970. The lifetime of the tokens begins then. */
  readonly askedAt: number;
  readonly tokenType: string;
  /** The secrets of the request. A server may quote them in an error. */
  readonly secrets?: readonly (string | undefined)[];
}

/**
 * Reads and checks the response of a token endpoint. It accepts more than `oauth4webapi`: forms, errors with status 200,
 * and invalid members that Fairlead does not need. It also refuses more: other types of tokens, and tokens that are too
 * long to store.
 */
export async function readTokenAnswer(response: Response, expected: ExpectedAnswer): Promise<TokenAnswer> {
  const { status } = response;
  const text = await response.text();
  if (status >= 500 || status === 429 || status === 408) return { kind: "unavailable", status };
  const isForm = response.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded") === true;
  const answer = isForm ? Object.fromEntries(new URLSearchParams(text)) : parseObject(text);
  const secrets = (expected.secrets ?? []).filter((secret) => secret !== undefined);
  // GitHub sends errors with status 200, so this comes before the status check.
  const given = answer && textIn(answer, "error");
  if (answer !== undefined && given !== undefined) {
    // A short secret could be part of the code by chance, and Fairlead must recognise the code.
    const code = withoutSecrets(
      given,
      secrets.filter(({ length }) => length >= shortestInCode),
    );
    const description = withoutSecrets(textIn(answer, "error_description") ?? "", secrets);
    const error = code.slice(0, longestWord);
    return { kind: "error", error, description: description.slice(0, longestDescription) || undefined };
  }
  if (!response.ok) return { kind: "unusable", reason: `the token endpoint answered HTTP ${status}` };
  if (answer === undefined) return { kind: "unusable", reason: "the response is not a JSON object" };
  return readTokens(answer, expected);
}

function readTokens(answer: JsonObject, { askedAt, tokenType }: ExpectedAnswer): TokenAnswer {
  // An identity provider without ID-JAG may issue an ordinary token, which no other server must get.
  if (tokenType === "N_A" && (answer["issued_token_type"] ?? idJag) !== idJag)
    return { kind: "unusable", reason: "the issued token is not an ID-JAG" };
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
      refreshToken,
      scope: textIn(answer, "scope")?.slice(0, longestScope),
      idToken: idToken !== undefined && isToken(idToken) ? idToken : undefined,
      expiresAt: expiryOf(answer["expires_in"], askedAt),
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
  readonly dpop?: DpopProofs | undefined;
}

/**
 * Exchanges the code for tokens. Returns `invalid_client` if the authorization server does not know the client.
 *
 * @throws HostError `auth_failed` for any other failure
 */
export async function exchangeCode(
  { code, verifier, redirectUri }: { readonly code: string; readonly verifier: string; readonly redirectUri: string },
  options: TokenRequestOptions,
): Promise<StoredTokens | "invalid_client"> {
  const parameters = { code, code_verifier: verifier, redirect_uri: redirectUri };
  const answer = await askForTokens("authorization_code", parameters, options);
  if (answer.kind === "tokens") return answer.tokens;
  if (answer.kind === "error" && answer.error === "invalid_client") return "invalid_client";
  throw options.fail("token request", `${options.plan.server.issuer} returned no tokens: ${reasonIn(answer)}`);
}

/**
 * Sends a token request, and returns the checked response.
 *
 * @throws HostError `auth_failed` if the endpoint cannot be reached
 */
export async function askForTokens(
  grant: string,
  parameters: Readonly<Record<string, string>>,
  { plan, client, audiences, post, now, fail, dpop }: TokenRequestOptions,
): Promise<TokenAnswer> {
  const { token_endpoint: url } = plan.server;
  const more = { ...parameters, resource: plan.resource, audience: parameterOf(audiences) };
  const asked = requestTokens({ url, client, grant, parameters: more, fetch: post, dpop, now });
  return explainFailure(asked, (words, cause) =>
    fail("token request", `${url} cannot be reached: ${words}`, { cause }),
  );
}
