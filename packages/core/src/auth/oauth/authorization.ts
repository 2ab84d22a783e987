/** The question that the browser takes to the authorization server, and what may come back as its answer. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { HostError } from "../../errors.ts";
import { webUrl } from "../../net/open-url.ts";
import type { StoredClient } from "../store/credentials.ts";
import type { SignInPlan } from "./discovery.ts";
import type { Fail } from "./failure.ts";

export interface AuthorizationQuestion {
  readonly url: string;
  readonly verifier: string;
}

export interface QuestionOptions {
  readonly plan: SignInPlan;
  readonly client: StoredClient;
  readonly redirectUri: string;
  readonly state: string;
  readonly scopes: readonly string[];
  readonly audiences: readonly string[];
  readonly fail: Fail;
}

const step = "the browser";
const secretBytes = 32;
const longestWords = 300;

export function randomWord(): string {
  return randomBytes(secretBytes).toString("base64url");
}

/** Without the proof that who redeems a code also asked for it (RFC 7636), whoever sees the code could use it. */
export function checkChallengeMethods({ metadata, isLegacyFallback, issuer }: SignInPlan, fail: Fail): void {
  const methods = metadata?.challengeMethods;
  // Endpoints that the settings name, and those of the older protocol, come without a list: there nobody can look.
  const isExcused = methods === undefined && (isLegacyFallback || metadata === undefined);
  if (isExcused || methods?.includes("S256") === true) return;
  throw fail(
    "the authorization server's metadata",
    `${issuer} does not say that it checks PKCE with S256, so a stolen code could be used`,
    {
      next: "Ask those who run it to list S256 in code_challenge_methods_supported.",
    },
  );
}

export function askForCode({
  plan,
  client,
  redirectUri,
  state,
  scopes,
  audiences,
  fail,
}: QuestionOptions): AuthorizationQuestion {
  const verifier = randomWord();
  const url = new URL(plan.endpoints.authorization);
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
    // Without it, OpenID Connect gives no refresh token for this scope.
    ...(scopes.includes("offline_access") && { prompt: "consent" }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const safe = webUrl(url.href);
  if (safe === undefined) throw fail(step, "its address is none that a browser may open");
  return { url: safe.href, verifier };
}

/** In a time that tells nothing about how much of it is right. */
export function isState(given: string | null, state: string): boolean {
  const [a, b] = [given ?? "", state].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

/** The code; its `state` was found right already. What another authorization server says is not even shown. */
export function codeIn(answer: URLSearchParams, plan: SignInPlan, fail: Fail): string {
  checkIssuer(answer.getAll("iss"), plan, fail);
  const [error] = answer.getAll("error");
  if (error !== undefined) throw refused(error, answer.get("error_description"), plan, fail);
  const [code, ...others] = answer.getAll("code");
  if (code === undefined || code === "" || others.length > 0) throw fail(step, `${plan.issuer} sent no code`);
  return code;
}

/** RFC 9207 §2.4: compared as it stands. */
function checkIssuer(
  [given, ...others]: readonly string[],
  { issuer, isIssuerKnown, metadata }: SignInPlan,
  fail: Fail,
): void {
  const next = `Ask those who run ${issuer}: its answers must name it as "iss", letter for letter.`;
  if (given === undefined) {
    if (metadata?.sendsIssuer !== true) return;
    throw fail(step, `the answer does not say that it comes from ${issuer}, as ${issuer} promises`, { next });
  }
  if (isIssuerKnown && (given !== issuer || others.length > 0))
    throw fail(step, `the answer comes from another authorization server than ${issuer}, so it was not used`, { next });
}

function refused(error: string, description: string | null, { issuer }: SignInPlan, fail: Fail): HostError {
  const words = description === null || description === "" ? error : `${error}: ${description}`;
  return fail(step, `${issuer} refused it (${words.slice(0, longestWords)})`);
}
