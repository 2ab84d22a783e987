/** Adds Google's authorization headers to a server's requests, and caches them until shortly before they expire. */

import type { AuthHook } from "@fairlead/wire";
import { HostError } from "../../errors.ts";

export interface GoogleHeaders {
  /** The headers: `authorization`, and `x-goog-user-project` if the credentials name a project. */
  readonly headers: Readonly<Record<string, string>>;
  /** Expiry time in milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface GoogleTokenHookOptions {
  readonly serverName: string;
  readonly serverUrl: string;
  /** Requests new headers from Google. */
  readonly ask: () => Promise<GoogleHeaders>;
  /** The wall clock, in milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/** How many milliseconds before their expiry the headers are renewed. */
const ahead = 300_000;

export function createGoogleTokenHook(options: GoogleTokenHookOptions): AuthHook {
  const { serverName, serverUrl, ask, now = Date.now } = options;
  const { origin } = new URL(serverUrl);
  let held: (GoogleHeaders & { readonly renewAt: number }) | undefined;
  let flight: Promise<GoogleHeaders> | undefined;

  async function renew(): Promise<GoogleHeaders> {
    const asked = now();
    const given = await ask();
    // A token with a short lifetime is renewed when half of the lifetime has passed.
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
    const known = held;
    if (known === undefined) return fresh();
    if (now() < known.renewAt) return known;
    return fresh().catch((error: unknown) => {
      /*
       * If the renewal fails while the current token is still valid, Fairlead uses this token. The next request tries
       * the renewal again.
       */
      if (now() < known.expiresAt) return known;
      throw error;
    });
  }

  return {
    async headers({ url }) {
      // Sends a token only to the server that it belongs to.
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
        next: "Check that the account of your Google credentials may use this server.",
      });
    },
  };
}
