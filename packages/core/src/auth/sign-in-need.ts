/** Remembers for a server whether it wants a sign-in that it did not get, so that a command can say so without asking it. */

import type { AuthHook, Challenge } from "@fairlead/wire";
import { HostError } from "../errors.ts";

export interface SignInNeedOptions {
  /** A person is needed; the token that was refused, if one was sent. */
  readonly want: (refused: string | undefined) => Promise<void>;
  readonly forget: () => Promise<void>;
  /** Whoever signs in again, by their own wish, has perhaps a token that is good. */
  readonly isForced: boolean;
}

/** A hook that is told when its token was accepted. */
export interface ServerAuth extends AuthHook {
  readonly accepted?: () => Promise<void>;
}

export function recordSignInNeed(hook: AuthHook, { want, forget, isForced }: SignInNeedOptions): ServerAuth {
  // What cannot be written down is missing in a list, and nowhere else.
  const note = (noting: Promise<void>): Promise<void> => noting.catch(() => undefined);
  return {
    headers: (request) => hook.headers(request),
    async challenged(challenge, signal) {
      const isUnknown = challenge.status === 401;
      try {
        const isSignedIn = await hook.challenged(challenge, signal);
        if (isSignedIn) await note(forget());
        else if (isUnknown && !isForced) await note(want(sentIn(challenge)));
        return isSignedIn;
      } catch (error) {
        // Who is let in, but not everywhere, has signed in.
        if (isUnknown && !isForced && needsPerson(error, sentIn(challenge))) await note(want(sentIn(challenge)));
        throw error;
      }
    },
    accepted: () => note(forget()),
  };
}

/** A token that could not be renewed for now may be renewed tomorrow, without anyone. */
function needsPerson(error: unknown, sent: string | undefined): boolean {
  if (!(error instanceof HostError) || error.code === "cancelled") return false;
  return sent === undefined || error.code === "auth_required";
}

function sentIn({ sent }: Challenge): string | undefined {
  return sent["authorization"]?.replace(/^Bearer /, "");
}
