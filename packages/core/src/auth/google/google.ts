/** Signs in with the Google credentials of this machine (`authProviderType: "google_credentials"`). */

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
  /** The server's URL with expanded variables. */
  readonly serverUrl: string;
  readonly environment: Environment;
  readonly secret: (name: string) => Promise<string | undefined>;
  /** The setting `fairlead.googleHosts`: additional hosts that may get Google tokens. */
  readonly hosts: readonly string[];
  /** The `fetch` for requests to Google. Default: Fairlead's own `fetch`. */
  readonly fetch?: Fetch;
  /** The wall clock, in milliseconds since 1970. */
  readonly now?: () => number;
}

const googleHosts = ["*.googleapis.com", "luci.app", "*.luci.app"];
const quotaHeader = "x-goog-user-project";
/** The assumed lifetime of a token, in milliseconds, if Google's library reports no expiry time. */
const usualLife = 300_000;

/** @throws HostError `settings_invalid` if a setting of the server definition is missing or invalid */
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

/**
 * Checks the host and the scopes of a server definition without sending a request. Returns the scopes.
 *
 * @throws HostError `settings_invalid` if the host must not get Google tokens, or if the definition sets no scopes
 */
export async function checkGoogleEntry(
  definition: ServerDefinition,
  { serverUrl, secret, hosts }: Pick<GoogleHookOptions, "serverUrl" | "secret" | "hosts">,
): Promise<readonly string[]> {
  checkHost(definition.name, serverUrl, hosts);
  return scopesOf(definition, secret);
}

/** Whether `hosts` contains the host, or a pattern such as `*.example.com` that matches the host. */
export function isGoogleHost(host: string, hosts: readonly string[]): boolean {
  return hosts.some((pattern) => matchesHost(host, pattern.toLowerCase()));
}

async function scopesOf(definition: ServerDefinition, secret: GoogleHookOptions["secret"]): Promise<readonly string[]> {
  const authentication = await expandAuthentication(definition, secret);
  const scopes = authentication.provider === "google" ? (authentication.oauth.scopes ?? []) : [];
  const given = scopes.filter((scope) => scope !== "");
  if (given.length > 0) return given;
  throw new HostError("settings_invalid", `"${definition.name}" uses Google credentials, but sets no scopes`, {
    serverName: definition.name,
    next: 'Add them in settings.json: "oauth": { "scopes": ["https://www.googleapis.com/auth/…"] }',
  });
}

/**
 * Throws if the server's host must not get Google tokens. With a token, a server could do everything in the person's
 * account that the token's scopes allow.
 */
function checkHost(serverName: string, serverUrl: string, added: readonly string[]): void {
  const host = webUrl(serverUrl)?.hostname;
  if (host === undefined)
    throw new HostError(
      "settings_invalid",
      `"${serverName}" has no https address, so Fairlead sends it no Google token`,
      {
        serverName,
        next: "Use the https address of the server.",
      },
    );
  if (isGoogleHost(host, [...googleHosts, ...added])) return;
  throw new HostError(
    "settings_invalid",
    `"${serverName}" is at ${host}, but Fairlead sends Google tokens to ${googleHosts.join(", ")} only`,
    {
      serverName,
      next: `If ${host} may get Google tokens, add "${host}" to "fairlead.googleHosts" in your user settings.`,
    },
  );
}

function matchesHost(host: string, pattern: string): boolean {
  return pattern.startsWith("*.") ? host.length >= pattern.length && host.endsWith(pattern.slice(1)) : host === pattern;
}

function setsHeader({ transport }: ServerDefinition, header: string): boolean {
  return transport.kind !== "stdio" && [...transport.headers.keys()].some((name) => name.toLowerCase() === header);
}
