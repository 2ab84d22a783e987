/** Adds Google's authorization headers to a server's requests, and caches them until shortly before they expire. */

import type { AuthHook } from "@fairlead/wire";
import { HostError } from "../../errors.ts";

/** Authorization headers for Google, and when they expire. */
export interface GoogleHeaders {
  /** The headers: `authorization`, and `x-goog-user-project` if the credentials name a project. */
  readonly headers: Readonly<Record<string, string>>;
  /** Expiry time in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The server that gets the token, and how to get a new one. */
export interface GoogleTokenHookOptions {
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
