/** Exchanges an authorization code or a device code for tokens. */

import type { Fetch } from "../../net/bounded-fetch.ts";
import type { StoredClient, StoredTokens } from "../store/credentials.ts";
import type { SignInPlan } from "./discovery.ts";
import { postForm } from "./endpoint-request.ts";
import { explainFailure, type Fail } from "./failure.ts";
import { readTokenAnswer, type TokenAnswer } from "./token-answer.ts";

/** Options of a token request. */
export interface TokenRequestOptions {
  readonly plan: SignInPlan;
  readonly client: StoredClient;
  readonly audiences: readonly string[];
  /** Follows no redirects, because it sends secrets. */
  readonly post: Fetch;
  /** The wall clock, in milliseconds since 1970. */
  readonly now: () => number;
  readonly fail: Fail;
}

const longestReason = 300;

/** The tokens for a code; `invalid_client` if the authorization server does not know the client. @throws HostError `auth_failed` */
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
  { plan, client, audiences, post, now, fail }: TokenRequestOptions,
): Promise<TokenAnswer> {
  const askedAt = now();
  const { token: url } = plan.endpoints;
  const audience = audiences.length > 0 && { audience: audiences.join(" ") };
  const parameters = { ...grant, resource: plan.resource, ...audience };
  const asked = postForm({ url, client, parameters, fetch: post }).then((response) =>
    readTokenAnswer(response, askedAt),
  );
  return explainFailure(asked, (words, cause) =>
    fail("token request", `${url} cannot be reached: ${words}`, { cause }),
  );
}

/** Why there are no tokens, with the secrets hidden that an error description may quote. */
export function reasonIn(
  answer: Exclude<TokenAnswer, { readonly kind: "tokens" }>,
  secrets: readonly string[],
): string {
  switch (answer.kind) {
    case "error": {
      const words = answer.description === undefined ? answer.error : `${answer.error}: ${answer.description}`;
      return secrets.reduce((text, secret) => text.replaceAll(secret, "…"), words).slice(0, longestReason);
    }
    case "unavailable":
      return `it answered HTTP ${answer.status}; try again later`;
    case "unusable":
      return answer.reason;
  }
}
