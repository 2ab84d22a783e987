/** Wraps the sign-in hook of a connection, to hide the hook's tokens in logs. */

import type { AuthHook } from "@fairlead/wire";
import type { ServerAuth } from "../auth/auth-hook.ts";
import { createRedactor, createValueRedactor, type Redact } from "./redact.ts";

/** The sign-in hook of one connection, with functions that hide its tokens. */
export interface WatchedAuth {
  readonly hook: AuthHook;
  readonly redact: Redact;
  /** Hides only the tokens; text that merely looks like a token stays readable. */
  readonly hideTokens: Redact;
  /** Call this when the server has accepted the token. */
  readonly accepted: () => Promise<void>;
}

/** How many of the latest tokens are hidden in logs. Older tokens have probably expired. */
const keptTokens = 8;

/** Wraps a sign-in hook. */
export function watchAuth(hook: ServerAuth): WatchedAuth {
  const secrets = new Set<string>();
  let redact: Redact = (text) => text;
  let hideTokens = redact;

  function hide(values: readonly string[]): void {
    const fresh = values.map((value) => value.replace(/^\w+ /, "")).filter((value) => !secrets.has(value));
    if (fresh.length === 0) return;
    for (const value of fresh) secrets.add(value);
    for (const value of secrets) if (secrets.size > keptTokens) secrets.delete(value);
    redact = createRedactor(secrets);
    hideTokens = createValueRedactor(secrets);
  }

  return {
    hook: {
      ...hook,
      async headers(request) {
        const headers = await hook.headers(request);
        // DPoP proofs are not hidden, because each proof can be used only once.
        const { dpop: _, ...secret } = headers;
        const values = Object.values(secret);
        if (values.length > 0) hide(values);
        return headers;
      },
    },
    redact: (text) => redact(text),
    hideTokens: (text) => hideTokens(text),
    async accepted() {
      if (secrets.size > 0) await hook.accepted?.();
    },
  };
}
