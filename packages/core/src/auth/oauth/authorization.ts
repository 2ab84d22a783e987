/** Builds the address that the browser opens for a sign-in, and reads the response. */

import { createHash, timingSafeEqual } from "node:crypto";
import { errorMessage } from "@fairlead/wire/text";
import {
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  validateAuthResponse,
} from "oauth4webapi";
import type { HostError } from "../../errors.ts";
import { webUrl } from "../../net/open-url.ts";
import { present } from "../../settings/schema/present.ts";
import type { StoredClient } from "../store/credentials.ts";
import { parameterOf } from "./challenge.ts";
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
  /** The PKCE verifier. Default: a new one. */
  readonly verifier?: string;
  readonly fail: Fail;
}

const step = "browser";
const longestReason = 300;

/**
 * Checks that the authorization server supports PKCE (RFC 7636). Without PKCE, an attacker could use a stolen code.
 *
 * @throws HostError `auth_failed` if it does not
 */
export function checkChallengeMethods({ server, mustListPkce }: SignInPlan, fail: Fail): void {
  const { issuer, code_challenge_methods_supported: methods } = server;
  if (methods === undefined ? !mustListPkce : methods.includes("S256")) return;
  throw fail(
    "authorization server metadata",
    `${issuer} does not support PKCE with S256, so an attacker could use a stolen code`,
    { next: `Ask the operator of ${issuer} to list S256 in code_challenge_methods_supported.` },
  );
}

/**
 * Builds the sign-in address.
 *
 * @throws HostError `auth_failed` if a browser must not open it
 */
export async function askForCode(options: AuthorizationOptions): Promise<AuthorizationRequest> {
  const { plan, client, redirectUri, state, scopes, audiences, fail } = options;
  const { verifier = generateRandomCodeVerifier() } = options;
  const url = new URL(plan.server.authorization_endpoint ?? "");
  url.hash = "";
  const parameters = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    resource: plan.resource,
    scope: parameterOf(scopes),
    audience: parameterOf(audiences),
    // OpenID Connect gives a refresh token for `offline_access` only with `prompt=consent`.
    prompt: scopes.includes("offline_access") ? "consent" : undefined,
  };
  for (const [name, value] of Object.entries(present(parameters))) url.searchParams.set(name, value);
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
 * Returns the authorization code.
 *
 * @throws HostError `auth_failed` if the response is an error or comes from another server
 */
export function codeIn(
  answer: URLSearchParams,
  state: string,
  { server, isIssuerKnown }: Pick<SignInPlan, "server" | "isIssuerKnown">,
  fail: Fail,
): string {
  const response = new URLSearchParams(answer);
  // Without a known issuer, there is nothing to compare `iss` with.
  if (!isIssuerKnown) response.delete("iss");
  try {
    // An empty `iss` is wrong, but `oauth4webapi` takes it for none.
    if (response.get("iss") === "") throw new Error('empty "iss"');
    const [code, ...others] = validateAuthResponse(server, { client_id: "any" }, response, state).getAll("code");
    if (code && others.length === 0) return code;
  } catch (error) {
    throw refused(error, server.issuer, fail);
  }
  throw fail(step, `${server.issuer} sent no authorization code`);
}

/** `oauth4webapi` checks `iss` (RFC 9207 §2.4) first, so the text of a wrong server is never shown. */
function refused(error: unknown, issuer: string, fail: Fail): HostError {
  if (error instanceof AuthorizationResponseError) {
    const words = [error.error, error.error_description].filter(Boolean).join(": ");
    return fail(step, `${issuer} refused the sign-in (${words.slice(0, longestReason)})`);
  }
  const problem = errorMessage(error);
  if (!problem.includes('"iss"')) return fail(step, `the response of ${issuer} is invalid: ${problem}`);
  return fail(
    step,
    problem.includes("missing")
      ? `the response has no "iss", although ${issuer} announces "iss"`
      : `the response comes from another authorization server than ${issuer}, so Fairlead ignored the response`,
    { next: `Ask the operator of ${issuer} to send exactly ${issuer} as "iss".` },
  );
}
