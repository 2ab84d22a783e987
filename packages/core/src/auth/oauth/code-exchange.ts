/** Turns what the authorization server gave (a code, a device code) into tokens. */

import type { Fetch } from "../../net/bounded-fetch.ts";
import type { StoredClient, StoredTokens } from "../store/credentials.ts";
import type { SignInPlan } from "./discovery.ts";
import { postForm } from "./endpoint-request.ts";
import { during, type Fail } from "./failure.ts";
import { readTokenAnswer, type TokenAnswer } from "./token-answer.ts";

export interface TokenRequestOptions {
  readonly plan: SignInPlan;
  readonly client: StoredClient;
  readonly audiences: readonly string[];
  /** Follows no redirects. */
  readonly post: Fetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly fail: Fail;
}

const longestWords = 300;

export async function exchangeCode(
  { code, verifier, redirectUri }: { readonly code: string; readonly verifier: string; readonly redirectUri: string },
  options: TokenRequestOptions,
): Promise<StoredTokens | "invalid_client"> {
  const grant = { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirectUri };
  const answer = await askForTokens(grant, options);
  if (answer.kind === "tokens") return answer.tokens;
  if (answer.kind === "error" && answer.error === "invalid_client") return "invalid_client";
  throw options.fail("the token request", `${options.plan.issuer} gave none: ${reasonIn(answer, [code, verifier])}`);
}

export async function askForTokens(
  grant: Readonly<Record<string, string>>,
  { plan, client, audiences, post, now, fail }: TokenRequestOptions,
): Promise<TokenAnswer> {
  const askedAt = now();
  const { token: url } = plan.endpoints;
  const audience = audiences.length > 0 && { audience: audiences.join(" ") };
  const parameters = { ...grant, resource: plan.resource, ...audience };
  const asked = postForm({ url, client, parameters, fetch: post }).then((response) =>
    readTokenAnswer(response, askedAt),
  );
  return during(asked, (words, cause) => fail("the token request", `${url} cannot be asked: ${words}`, { cause }));
}

/** Explanations may quote what was sent: that is for nobody's eyes. */
export function reasonIn(
  answer: Exclude<TokenAnswer, { readonly kind: "tokens" }>,
  secrets: readonly string[],
): string {
  switch (answer.kind) {
    case "error": {
      const words = answer.description === undefined ? answer.error : `${answer.error}: ${answer.description}`;
      return secrets.reduce((text, secret) => text.replaceAll(secret, "…"), words).slice(0, longestWords);
    }
    case "unavailable":
      return `it answered ${answer.status}; try again in a while`;
    case "unusable":
      return answer.reason;
  }
}
