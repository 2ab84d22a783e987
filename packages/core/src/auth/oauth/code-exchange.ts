/** Exchanges an authorization code or a device code for a person's tokens. */

import type { Fetch } from "../../net/bounded-fetch.ts";
import type { StoredClient, StoredTokens } from "../store/credentials.ts";
import type { SignInPlan } from "./discovery.ts";
import type { DpopProofs } from "./dpop.ts";
import { explainFailure, type Fail } from "./failure.ts";
import { reasonIn, requestTokens, type TokenAnswer } from "./token-request.ts";

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
  const audience = audiences.length > 0 && { audience: audiences.join(" ") };
  const more = { ...parameters, resource: plan.resource, ...audience };
  const asked = requestTokens({ url, client, grant, parameters: more, fetch: post, dpop, now });
  return explainFailure(asked, (words, cause) =>
    fail("token request", `${url} cannot be reached: ${words}`, { cause }),
  );
}
