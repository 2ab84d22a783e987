/** Records that a server requires sign-in, so that commands such as `mcp list` can say so without connecting. */

import type { AuthHook } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { tokenIn } from "./auth-hook.ts";

/** Functions that record whether a server requires sign-in. */
export interface SignInNeedOptions {
  /** Records that a person must sign in. `refused` is the token that the server refused, if the request had one. */
  readonly want: (refused: string | undefined) => Promise<void>;
  readonly forget: () => Promise<void>;
  /** True if the person chose to sign in again. The stored token may then still be valid. */
  readonly isForced: boolean;
}

/** A sign-in hook. `accepted` is called when the server accepts the hook's token. */
export interface ServerAuth extends AuthHook {
  readonly accepted?: () => Promise<void>;
}

/** Wraps `hook` so that refusals and accepted tokens are recorded. */
export function recordSignInNeed(hook: AuthHook, { want, forget, isForced }: SignInNeedOptions): ServerAuth {
  // If the record cannot be written, the request continues, because only the output of `mcp list` may then be wrong.
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
        // Only a 401 means that the person must sign in. After a 403, the person is signed in but lacks a scope.
        if (isUnauthorized && !isForced && needsPerson(error, tokenIn(challenge))) await note(want(tokenIn(challenge)));
        throw error;
      }
    },
    accepted: () => note(forget()),
  };
}

/** Whether the person must sign in. False for a token refresh that failed temporarily. */
function needsPerson(error: unknown, sent: string | undefined): boolean {
  if (!(error instanceof HostError) || error.code === "cancelled") return false;
  return sent === undefined || error.code === "auth_required";
}
