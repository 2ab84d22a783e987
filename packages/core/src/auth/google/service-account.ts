/** Signs in as a service account (`authProviderType: "service_account_impersonation"`): its identity token, for one audience, is the server's token. */

import type { AuthHook } from "@fairlead/wire";
import { parseObject } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { HostError } from "../../errors.ts";
import { createBoundedFetch } from "../../net/bounded-fetch.ts";
import { webUrl } from "../../net/open-url.ts";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import { type GoogleHookOptions, isGoogleHost } from "./google.ts";
import { openGoogleClient } from "./google-credentials.ts";
import { toGoogleError } from "./google-failure.ts";
import { createGoogleTokenHook, type GoogleHeaders } from "./google-token-hook.ts";

export type ServiceAccountHookOptions = Pick<
  GoogleHookOptions,
  "serverUrl" | "environment" | "hosts" | "fetch" | "now"
>;

const scopes = ["https://www.googleapis.com/auth/cloud-platform"];
const usualLife = 300_000;

export async function createServiceAccountHook(
  definition: ServerDefinition,
  { serverUrl, environment, hosts, now = Date.now, ...options }: ServiceAccountHookOptions,
): Promise<AuthHook> {
  const { name: serverName } = definition;
  const { audience, account } = checkServiceAccountEntry(definition, { serverUrl, hosts });
  const fetch = options.fetch ?? createBoundedFetch({ env: environment.env });
  const forbidden = `Your own account needs the role roles/iam.serviceAccountOpenIdTokenCreator on ${account}.`;

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

/** Refuses an entry that cannot work, before anything is asked. */
export function checkServiceAccountEntry(
  { name: serverName, authentication, scope }: ServerDefinition,
  { serverUrl, hosts }: Pick<ServiceAccountHookOptions, "serverUrl" | "hosts">,
): { readonly audience: string; readonly account: string } {
  const invalid = (why: string, next: string): HostError =>
    new HostError("settings_invalid", `"${serverName}" ${why}`, { serverName, next });
  if (authentication.provider !== "sa-impersonation")
    throw invalid("names no service account", 'Set "targetServiceAccount" and "targetAudience" in its entry.');
  const url = webUrl(serverUrl);
  if (url === undefined)
    throw invalid("is not reached over https: no Google token is sent there", "Use its https address.");
  const { targetAudience: audience, targetServiceAccount: account } = authentication;
  // It becomes a part of an address at which tokens are given out.
  if (!/^[\w-][\w.-]*(?:@[\w.-]+)?$/.test(account))
    throw invalid(`names ${JSON.stringify(account)}, which is no service account`, "Write its email address.");
  // Whoever gets a token for somebody else's service can use it there.
  const isOwn = parseUrl(audience)?.origin === url.origin;
  if (scope === "workspace" && !isOwn && !isGoogleHost(url.hostname, hosts))
    throw invalid(
      `comes from the workspace, is at ${url.host}, and wants tokens for ${JSON.stringify(audience)}, which is another place`,
      `If ${url.hostname} may have them, add "${url.hostname}" to fairlead.googleHosts in your user settings.`,
    );
  return { audience, account };
}

/** In milliseconds since 1970, as the token itself says. */
function endOf(token: string): number | undefined {
  const claims = parseObject(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const end = claims?.["exp"];
  return typeof end === "number" ? end * 1000 : undefined;
}
