/** A sign-in hook as a connection uses it: what it sends is kept out of logs, and the time a person takes is counted apart. */

import type { AuthHook } from "@fairlead/wire";
import type { ServerAuth } from "../auth/sign-in-need.ts";
import { type Clock, systemClock } from "../clock.ts";
import type { Deadline } from "./deadline.ts";
import { createRedactor, type Redact } from "./redact.ts";

export interface SignInTime {
  readonly isUnderWay: () => boolean;
  /** So far, in milliseconds. */
  readonly total: () => number;
}

export interface WatchedAuth {
  readonly hook: AuthHook;
  readonly redact: Redact;
  readonly time: SignInTime;
  /** The server has answered: what it was sent is good. */
  readonly accepted: () => Promise<void>;
}

/** The last ones: what is older does not work any more. */
const rememberedTokens = 8;

export function watchAuth(
  hook: ServerAuth,
  deadline: Pick<Deadline, "hold" | "release">,
  clock: Clock = systemClock,
): WatchedAuth {
  const secrets = new Set<string>();
  let redact: Redact = (text) => text;
  let underWay = 0;
  let since = 0;
  let total = 0;

  function learn(values: readonly string[]): void {
    const fresh = values.map((value) => value.replace(/^\w+ /, "")).filter((value) => !secrets.has(value));
    if (fresh.length === 0) return;
    for (const value of fresh) secrets.add(value);
    for (const value of secrets) if (secrets.size > rememberedTokens) secrets.delete(value);
    redact = createRedactor(secrets);
  }

  return {
    hook: {
      async headers(request) {
        const headers = await hook.headers(request);
        learn(Object.values(headers));
        return headers;
      },
      async challenged(challenge, signal) {
        deadline.hold();
        if (underWay === 0) since = clock.now();
        underWay += 1;
        try {
          return await hook.challenged(challenge, signal);
        } finally {
          underWay -= 1;
          if (underWay === 0) total += clock.now() - since;
          deadline.release();
        }
      },
    },
    redact: (text) => redact(text),
    async accepted() {
      if (secrets.size > 0) await hook.accepted?.();
    },
    time: { isUnderWay: () => underWay > 0, total: () => total },
  };
}
