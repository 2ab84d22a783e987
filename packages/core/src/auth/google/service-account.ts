/**
 * Signs in with the identity token of a Google service account (`authProviderType: "service_account_impersonation"`).
 */

import type { AuthHook } from "@fairlead/wire";
import { parseObject } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import { createBoundedFetch } from "../../net/bounded-fetch.ts";
import { webUrl } from "../../net/open-url.ts";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import { createGoogleTokenHook, type GoogleHeaders, type GoogleHookOptions, isGoogleHost } from "./google.ts";
import { openGoogleClient } from "./google-credentials.ts";
import { toGoogleError } from "./google-failure.ts";

/** What a server with a service account needs besides its definition. */
export type ServiceAccountHookOptions = Pick<
  GoogleHookOptions,
  "serverUrl" | "environment" | "hosts" | "fetch" | "now"
>;

const scopes = ["https://www.googleapis.com/auth/cloud-platform"];
const usualLife = 300_000;

/**
 * Creates the hook that adds the service account's identity token to the server's requests.
 *
 * @throws HostError `settings_invalid` if a setting of the server definition is missing or invalid
 */
export async function createServiceAccountHook(
  definition: ServerDefinition,
  { serverUrl, environment, hosts, now = Date.now, ...options }: ServiceAccountHookOptions,
): Promise<AuthHook> {
  const { name: serverName } = definition;
  const { audience, account } = checkServiceAccountEntry(definition, { serverUrl, hosts });
  const fetch = options.fetch ?? createBoundedFetch({ env: environment.env });
  const forbidden = `Give your account the role roles/iam.serviceAccountOpenIdTokenCreator on ${account}.`;

  async function ask(): Promise<GoogleHeaders> {
    try {
      const { Impersonated } = await import("./google-library.ts");
      const sourceClient = await openGoogleClient({ serverName, environment, scopes, fetch });
      const client = new Impersonated({ sourceClient, targetPrincipal: account });
      const token = await client.fetchIdToken(audience, { includeEmail: true });
      return { headers: { authorization: `Bearer ${token}` }, expiresAt: endOf(token) ?? now() + usualLife };
    } catch (error) {
      throw toGoogleError(error, { serverName, forbidden });
    }
  }

  return createGoogleTokenHook({ serverName, serverUrl, ask, now });
}

/**
 * Checks a server definition, and returns its audience and its service account. Sends no request.
 *
 * @throws HostError `settings_invalid` if a setting of the server definition is missing or invalid
 */
export function checkServiceAccountEntry(
  { name: serverName, authentication, scope }: ServerDefinition,
  { serverUrl, hosts }: Pick<ServiceAccountHookOptions, "serverUrl" | "hosts">,
): { readonly audience: string; readonly account: string } {
  const invalid = (why: string, next: string): HostError =>
    new HostError("settings_invalid", `"${serverName}" ${why}`, { serverName, next });
  if (authentication.provider !== "sa-impersonation")
    throw invalid("has no service account", 'Set "targetServiceAccount" and "targetAudience" in settings.json.');
  const url = webUrl(serverUrl);
  if (url === undefined)
    throw invalid(
      "has no https address, so Fairlead sends it no Google token",
      "Change the server's URL in settings.json to its https address.",
    );
  const { targetAudience: audience, targetServiceAccount: account } = authentication;
  // The account becomes part of a Google URL, so it may contain only the characters of an email address.
  if (!/^[\w-][\w.-]*(?:@[\w.-]+)?$/.test(account))
    throw invalid(
      `has an invalid service account: ${JSON.stringify(account)}`,
      'Set "targetServiceAccount" to the email address of the account.',
    );
  // The server at the audience's address accepts the token. If this server has another address, it could misuse the
  // token there.
  const isOwn = parseUrl(audience)?.origin === url.origin;
  if (scope === "workspace" && !isOwn && !isGoogleHost(url.hostname, hosts))
    throw invalid(
      `comes from the workspace and is at ${url.host}, but requests tokens for another address: ${JSON.stringify(audience)}`,
      `If ${url.hostname} may get Google tokens, add "${url.hostname}" to "fairlead.googleHosts" in your user settings.`,
    );
  return { audience, account };
}

/** Returns the expiry time of a JWT, in milliseconds since 1970. */
function endOf(token: string): number | undefined {
  const claims = parseObject(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const end = claims?.["exp"];
  return typeof end === "number" ? end * 1000 : undefined;
}
