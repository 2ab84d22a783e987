/** Gives a server's requests the headers that Google's credentials stand for, asked for once and kept until shortly before they end. */

import type { AuthHook } from "@fairlead/wire";
import { HostError } from "../../errors.ts";

export interface GoogleHeaders {
  /** `authorization`, and perhaps more. */
  readonly headers: Readonly<Record<string, string>>;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface GoogleTokenHookOptions {
  readonly serverName: string;
  readonly serverUrl: string;
  /** Asks Google anew each time. */
  readonly ask: () => Promise<GoogleHeaders>;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/** Before the end of a token. */
const ahead = 300_000;

export function createGoogleTokenHook(options: GoogleTokenHookOptions): AuthHook {
  const { serverName, serverUrl, ask, now = Date.now } = options;
  const { origin } = new URL(serverUrl);
  let held: (GoogleHeaders & { readonly renewAt: number }) | undefined;
  let flight: Promise<GoogleHeaders> | undefined;

  async function renew(): Promise<GoogleHeaders> {
    const asked = now();
    const given = await ask();
    // One that lives for a few minutes only is not asked for all the time.
    held = { ...given, renewAt: given.expiresAt - Math.min(ahead, (given.expiresAt - asked) / 2) };
    return given;
  }

  /** However many requests need it, Google is asked once. */
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
      // It has not ended yet; perhaps Google answers the next time.
      if (now() < known.expiresAt) return known;
      throw error;
    });
  }

  return {
    async headers({ url }) {
      // A token is for one server, and goes nowhere else.
      return new URL(url).origin === origin ? (await current()).headers : {};
    },
    async challenged({ status, sent, attempt }) {
      if (status !== 401) return false;
      const before = sent["authorization"];
      // Another request has found it out already.
      if (held !== undefined && held.headers["authorization"] !== before) return true;
      if (attempt === 0 && (await fresh()).headers["authorization"] !== before) return true;
      throw new HostError("auth_failed", `"${serverName}" does not accept the token that Google gave for it`, {
        serverName,
        next: "Check which account your Google credentials belong to, and whether it may use this server.",
      });
    },
  };
}
