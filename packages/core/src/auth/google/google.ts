/** Signs in with the Google credentials of this machine (`authProviderType: "google_credentials"`): tokens go to Google's own hosts, and to those that the person adds. */

import type { AuthHook } from "@fairlead/wire";
import { HostError } from "../../errors.ts";
import { createBoundedFetch, type Fetch } from "../../net/bounded-fetch.ts";
import { webUrl } from "../../net/open-url.ts";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import { expandAuthentication } from "../../settings/define/expand.ts";
import type { Environment } from "../../settings/read/paths.ts";
import { openGoogleClient } from "./google-credentials.ts";
import { toGoogleError } from "./google-failure.ts";
import { createGoogleTokenHook, type GoogleHeaders } from "./google-token-hook.ts";

export interface GoogleHookOptions {
  /** As it is reached, with variables filled in. */
  readonly serverUrl: string;
  readonly environment: Environment;
  readonly secret: (name: string) => Promise<string | undefined>;
  /** `fairlead.googleHosts`. */
  readonly hosts: readonly string[];
  /** Instead of the network, in tests. */
  readonly fetch?: Fetch;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const googleHosts = ["*.googleapis.com", "luci.app", "*.luci.app"];
const quotaHeader = "x-goog-user-project";
/** Where the library does not say when a token ends. */
const usualLife = 300_000;

export async function createGoogleHook(definition: ServerDefinition, options: GoogleHookOptions): Promise<AuthHook> {
  const { serverUrl, environment, secret, hosts, now = Date.now } = options;
  const { name: serverName } = definition;
  const scopes = await checkGoogleEntry(definition, { serverUrl, secret, hosts });
  const fetch = options.fetch ?? createBoundedFetch({ env: environment.env });

  async function ask(): Promise<GoogleHeaders> {
    try {
      const client = await openGoogleClient({ serverName, environment, scopes, fetch });
      const headers = await client.getRequestHeaders();
      const quotaProject = setsHeader(definition, quotaHeader) ? null : headers.get(quotaHeader);
      return {
        headers: {
          authorization: headers.get("authorization") ?? "",
          ...(quotaProject !== null && { [quotaHeader]: quotaProject }),
        },
        expiresAt: client.credentials.expiry_date ?? now() + usualLife,
      };
    } catch (error) {
      throw toGoogleError(error, { serverName });
    }
  }

  return createGoogleTokenHook({ serverName, serverUrl, ask, now });
}

/** Refuses an entry that cannot work, before anything is asked; gives its scopes. */
export async function checkGoogleEntry(
  definition: ServerDefinition,
  { serverUrl, secret, hosts }: Pick<GoogleHookOptions, "serverUrl" | "secret" | "hosts">,
): Promise<readonly string[]> {
  checkHost(definition.name, serverUrl, hosts);
  return scopesOf(definition, secret);
}

/** Whether the person lets tokens of their Google account go to that host. */
export function isGoogleHost(host: string, hosts: readonly string[]): boolean {
  return hosts.some((pattern) => fits(host, pattern.toLowerCase()));
}

async function scopesOf(definition: ServerDefinition, secret: GoogleHookOptions["secret"]): Promise<readonly string[]> {
  const authentication = await expandAuthentication(definition, secret);
  const scopes = authentication.provider === "google" ? (authentication.oauth.scopes ?? []) : [];
  const given = scopes.filter((scope) => scope !== "");
  if (given.length > 0) return given;
  throw new HostError("settings_invalid", `"${definition.name}" signs in with Google credentials for no scopes`, {
    serverName: definition.name,
    next: 'Name them in its entry: "oauth": { "scopes": ["https://www.googleapis.com/auth/…"] }',
  });
}

/** A token of this machine opens everything of its account that the scopes name: it must not go just anywhere. */
function checkHost(serverName: string, serverUrl: string, added: readonly string[]): void {
  const host = webUrl(serverUrl)?.hostname;
  if (host === undefined)
    throw new HostError(
      "settings_invalid",
      `"${serverName}" is not reached over https: no Google token is sent there`,
      {
        serverName,
        next: "Use its https address.",
      },
    );
  if (isGoogleHost(host, [...googleHosts, ...added])) return;
  throw new HostError(
    "settings_invalid",
    `"${serverName}" is at ${host}, and Google tokens go to ${googleHosts.join(", ")} only`,
    {
      serverName,
      next: `If ${host} may have them, add "${host}" to fairlead.googleHosts in your user settings.`,
    },
  );
}

function fits(host: string, pattern: string): boolean {
  return pattern.startsWith("*.") ? host.length >= pattern.length && host.endsWith(pattern.slice(1)) : host === pattern;
}

function setsHeader({ transport }: ServerDefinition, header: string): boolean {
  return transport.kind !== "stdio" && [...transport.headers.keys()].some((name) => name.toLowerCase() === header);
}
