/** Builds the address that the browser opens for a sign-in, and reads the response. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { HostError } from "../../errors.ts";
import { webUrl } from "../../net/open-url.ts";
import type { StoredClient } from "../store/credentials.ts";
import type { SignInPlan } from "./discovery.ts";
import type { Fail } from "./failure.ts";

/** The address that the browser opens, and the PKCE verifier for the token request. */
export interface AuthorizationRequest {
  readonly url: string;
  readonly verifier: string;
}

/** What the sign-in address contains: client, redirect URI, `state`, scopes and audiences. */
export interface AuthorizationOptions {
  readonly plan: SignInPlan;
  readonly client: StoredClient;
  readonly redirectUri: string;
  readonly state: string;
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  readonly fail: Fail;
}

const step = "browser";
const secretBytes = 32;
const longestReason = 300;

/** Returns 256 random bits as text (base64url). */
export function randomWord(): string {
  return randomBytes(secretBytes).toString("base64url");
}

/**
 * Checks that the authorization server supports PKCE (RFC 7636). Without PKCE, an attacker could use a stolen code.
 *
 * @throws HostError `auth_failed` if it does not
 */
export function checkChallengeMethods({ metadata, isLegacyFallback, issuer }: SignInPlan, fail: Fail): void {
  const methods = metadata?.challengeMethods;
  // Servers of protocol version 2025-03-26, and servers without metadata, need not list their PKCE methods.
  const isUnlisted = methods === undefined && (isLegacyFallback || metadata === undefined);
  if (isUnlisted || methods?.includes("S256") === true) return;
  throw fail(
    "authorization server metadata",
    `${issuer} does not support PKCE with S256, so an attacker could use a stolen code`,
    {
      next: `Ask the operator of ${issuer} to list S256 in code_challenge_methods_supported.`,
    },
  );
}

/**
 * Builds the sign-in address.
 *
 * @throws HostError `auth_failed` if a browser must not open it
 */
export function askForCode({
  plan,
  client,
  redirectUri,
  state,
  scopes,
  audiences,
  fail,
}: AuthorizationOptions): AuthorizationRequest {
  const verifier = randomWord();
  const url = new URL(plan.endpoints.authorization ?? "");
  url.hash = "";
  const parameters = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: plan.resource,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(audiences.length > 0 && { audience: audiences.join(" ") }),
    // OpenID Connect gives a refresh token for `offline_access` only with `prompt=consent`.
    ...(scopes.includes("offline_access") && { prompt: "consent" }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const safe = webUrl(url.href);
  if (safe === undefined) throw fail(step, "the authorization endpoint is not an address that a browser may open");
  return { url: safe.href, verifier };
}

/** Whether `given` is the expected `state`. Takes the same time for any text, so an attacker learns nothing from it. */
export function isState(given: string | null, state: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given ?? ""), digest(state));
}

/**
 * Returns the authorization code. The caller has checked `state`.
 *
 * @throws HostError `auth_failed` if the response is an error or comes from another server
 */
export function codeIn(answer: URLSearchParams, plan: SignInPlan, fail: Fail): string {
  checkIssuer(answer.getAll("iss"), plan, fail);
  const [error] = answer.getAll("error");
  if (error !== undefined) throw refused(error, answer.get("error_description"), plan, fail);
  const [code, ...others] = answer.getAll("code");
  if (code === undefined || code === "" || others.length > 0)
    throw fail(step, `${plan.issuer} sent no authorization code`);
  return code;
}

/** Checks `iss` (RFC 9207 §2.4). This comes first, because Fairlead must not show the error text of a wrong server. */
function checkIssuer(
  [given, ...others]: readonly string[],
  { issuer, isIssuerKnown, metadata }: SignInPlan,
  fail: Fail,
): void {
  const next = `Ask the operator of ${issuer} to send exactly ${issuer} as "iss".`;
  if (given === undefined) {
    if (metadata?.sendsIssuer !== true) return;
    throw fail(step, `the response has no "iss", although ${issuer} announces "iss"`, { next });
  }
  if (isIssuerKnown && (given !== issuer || others.length > 0))
    throw fail(
      step,
      `the response comes from another authorization server than ${issuer}, so Fairlead ignored the response`,
      {
        next,
      },
    );
}

function refused(error: string, description: string | null, { issuer }: SignInPlan, fail: Fail): HostError {
  const words = description === null || description === "" ? error : `${error}: ${description}`;
  return fail(step, `${issuer} refused the sign-in (${words.slice(0, longestReason)})`);
}
