/** Records which servers require sign-in, so that `mcp list` can show it without connecting. */

import type { AuthHook } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { tokenIn } from "./auth-hook.ts";

/** How to record that a server requires sign-in, or no longer does. */
export interface SignInNeedOptions {
  /** Records that a person must sign in. `refused` is the token that the server refused, if any. */
  readonly want: (refused: string | undefined) => Promise<void>;
  readonly forget: () => Promise<void>;
  /** True if the person wants to sign in again. Then the stored token may still be valid, so `want` is not called. */
  readonly isForced: boolean;
}

/** An `AuthHook`. Call `accepted` when the server has accepted its token. */
export interface ServerAuth extends AuthHook {
  readonly accepted?: () => Promise<void>;
}

/** Returns `hook`, but records when the server refuses or accepts its tokens. */
export function recordSignInNeed(hook: AuthHook, { want, forget, isForced }: SignInNeedOptions): ServerAuth {
  // The record is only for `mcp list`, so a failure to write it must not fail the request.
  const note = (noting: Promise<void>): Promise<void> => noting.catch(() => undefined);
  return {
    headers: (request) => hook.headers(request),
    async challenged(challenge, signal) {
      const isUnauthorized = challenge.status === 401;
      try {
        const isSignedIn = await hook.challenged(challenge, signal);
        if (isSignedIn) await note(forget());
        else if (isUnauthorized && !isForced) await note(want(tokenIn(challenge)));
        return isSignedIn;
      } catch (error) {
        // Only a 401 means that the person must sign in. With a 403, the person is signed in, but a scope is missing.
        if (isUnauthorized && !isForced && needsPerson(error, tokenIn(challenge))) await note(want(tokenIn(challenge)));
        throw error;
      }
    },
    accepted: () => note(forget()),
  };
}

/** A token refresh that failed for now does not mean that the person must sign in. */
function needsPerson(error: unknown, sent: string | undefined): boolean {
  if (!(error instanceof HostError) || error.code === "cancelled") return false;
  return sent === undefined || error.code === "auth_required";
}
