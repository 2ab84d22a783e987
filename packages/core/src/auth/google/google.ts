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

/** What a server with Google credentials needs besides its definition. */
export interface GoogleHookOptions {
  /** The server's URL. Its variables are already expanded. */
  readonly serverUrl: string;
  readonly environment: Environment;
  readonly secret: (name: string) => Promise<string | undefined>;
  /** The setting `fairlead.googleHosts`: additional hosts that may get Google tokens. */
  readonly hosts: readonly string[];
  /** Sends requests to Google. Default: Fairlead's own `fetch`. */
  readonly fetch?: Fetch;
  /** Returns milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

const googleHosts = ["*.googleapis.com", "luci.app", "*.luci.app"];
const quotaHeader = "x-goog-user-project";
/** If Google's library reports no expiry time, a token is used for this many milliseconds. */
const usualLife = 300_000;

/**
 * Creates the hook that adds a Google token to the server's requests.
 *
 * @throws HostError `settings_invalid` if a setting of the server definition is missing or invalid
 */
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
      const given: Record<string, string> = { authorization: headers.get("authorization") ?? "" };
      if (quotaProject !== null) given[quotaHeader] = quotaProject;
      return { headers: given, expiresAt: client.credentials.expiry_date ?? now() + usualLife };
    } catch (error) {
      throw toGoogleError(error, { serverName });
    }
  }

  return createGoogleTokenHook({ serverName, serverUrl, ask, now });
}

/**
 * Checks a server definition, and returns its scopes. Sends no request.
 *
 * @throws HostError `settings_invalid` if the host must not get Google tokens, or if there are no scopes
 */
export async function checkGoogleEntry(
  definition: ServerDefinition,
  { serverUrl, secret, hosts }: Pick<GoogleHookOptions, "serverUrl" | "secret" | "hosts">,
): Promise<readonly string[]> {
  checkHost(definition.name, serverUrl, hosts);
  return scopesOf(definition, secret);
}

/** Whether one of `hosts` is this host, or a pattern that matches it (for example `*.example.com`). */
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

/** With a Google token, a server could do in the person's account whatever the token's scopes allow. */
function checkHost(serverName: string, serverUrl: string, added: readonly string[]): void {
  const host = webUrl(serverUrl)?.hostname;
  if (host === undefined)
    throw new HostError(
      "settings_invalid",
      `"${serverName}" has no https address, so Fairlead sends it no Google token`,
      {
        serverName,
        next: "Change the server's URL in settings.json to its https address.",
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

/** Authorization headers for Google, and when they expire. */
export interface GoogleHeaders {
  /** The headers: `authorization`, and `x-goog-user-project` if the credentials name a project. */
  readonly headers: Readonly<Record<string, string>>;
  /** Expiry time in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The server that gets the token, and how to get a new one. */
interface GoogleTokenHookOptions {
  readonly serverName: string;
  readonly serverUrl: string;
  /** Requests new headers from Google. */
  readonly ask: () => Promise<GoogleHeaders>;
  /** Returns milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** The headers are renewed this many milliseconds before they expire. */
const ahead = 300_000;

/** Creates the hook. `challenged` rejects with HostError `auth_failed` if the server refuses a new token too. */
export function createGoogleTokenHook(options: GoogleTokenHookOptions): AuthHook {
  const { serverName, serverUrl, ask, now = Date.now } = options;
  const { origin } = new URL(serverUrl);
  let held: (GoogleHeaders & { readonly renewAt: number }) | undefined;
  let flight: Promise<GoogleHeaders> | undefined;

  async function renew(): Promise<GoogleHeaders> {
    const asked = now();
    const given = await ask();
    // If a token's lifetime is short, it is renewed after half of that time.
    held = { ...given, renewAt: given.expiresAt - Math.min(ahead, (given.expiresAt - asked) / 2) };
    return given;
  }

  function fresh(): Promise<GoogleHeaders> {
    flight ??= renew().finally(() => {
      flight = undefined;
    });
    return flight;
  }

  async function current(): Promise<GoogleHeaders> {
    const heldHeaders = held;
    if (heldHeaders === undefined) return fresh();
    if (now() < heldHeaders.renewAt) return heldHeaders;
    return fresh().catch((error: unknown) => {
      // The renewal failed, but the current token is still valid. The next request tries again.
      if (now() < heldHeaders.expiresAt) return heldHeaders;
      throw error;
    });
  }

  return {
    async headers({ url }) {
      // The token must not go to any other server.
      return new URL(url).origin === origin ? (await current()).headers : {};
    },
    async challenged({ status, sent, attempt }) {
      if (status !== 401) return false;
      const before = sent["authorization"];
      // Another request has already renewed the token.
      if (held !== undefined && held.headers["authorization"] !== before) return true;
      if (attempt === 0 && (await fresh()).headers["authorization"] !== before) return true;
      throw new HostError("auth_failed", `"${serverName}" rejected the Google token`, {
        serverName,
        next: "Ask the server's operator to allow the account of your Google credentials.",
      });
    },
  };
}
