/** What to do about a server that ended: whether it is tried again, and when. Pure. */

import { longestRetryAfter, retryAfterPause } from "../../connect/retry-after.ts";
import type { RetryClass } from "../../connect/retryable.ts";
import { backoffPause } from "./backoff.ts";

/** What is remembered of a server from one end to the next. */
export interface RetryHistory {
  /** Ends in a row after which it was tried again. */
  readonly tries: number;
  /** Ends in a row that came soon after their start. */
  readonly crashes: number;
  /** It worked once: its settings are not to blame for what came later. */
  readonly hasWorked: boolean;
}

export const emptyHistory: RetryHistory = { tries: 0, crashes: 0, hasWorked: false };

export interface End {
  readonly retry: RetryClass;
  /** Milliseconds since its start. */
  readonly lasted: number;
  /** It had been connected and its lists read. */
  readonly wasUp: boolean;
}

export type Plan =
  /** It stays as it is until somebody asks for it. */
  | { readonly kind: "rest" }
  | { readonly kind: "try_at_once" }
  | { readonly kind: "wait"; readonly milliseconds: number }
  | { readonly kind: "give_up" };

export interface RetryInputs {
  readonly random: () => number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Who stays up that long is well. */
export const soon = 60_000;
export const mostCrashes = 5;

export function planAfter(
  before: RetryHistory,
  end: End,
  chance: RetryInputs,
): { readonly plan: Plan; readonly history: RetryHistory } {
  const start = end.wasUp && end.lasted >= soon ? emptyHistory : before;
  const { tries } = start;
  const hasWorked = before.hasWorked || end.wasUp;
  const kind = kindOf(end);
  const crashes = start.crashes + (kind === "crash" && end.lasted < soon ? 1 : 0);
  const history = { tries: tries + 1, crashes, hasWorked };
  const wait = (after: number) => {
    const milliseconds = Math.max(backoffPause(after, chance.random), wishIn(end.retry, chance));
    return { plan: { kind: "wait", milliseconds }, history } as const;
  };
  switch (kind) {
    case "never":
      return { plan: { kind: "rest" }, history: before };
    case "session":
      // A server that forgets every session soon is not asked for new ones without pause.
      return tries === 0 ? { plan: { kind: "try_at_once" }, history } : wait(tries - 1);
    case "outage":
      return wait(tries);
    case "crash":
      if (!hasWorked) return { plan: { kind: "rest" }, history: before };
      if (crashes >= mostCrashes) return { plan: { kind: "give_up" }, history };
      return wait(tries);
  }
}

/** A connection that was up and broke off is no outage yet. */
function kindOf({ retry: { kind }, wasUp }: End): RetryClass["kind"] {
  return wasUp && kind === "outage" ? "crash" : kind;
}

function wishIn(retry: RetryClass, { random, now }: RetryInputs): number {
  const wish = retry.kind === "outage" ? retry.retryAfter : undefined;
  const pause = wish === undefined ? undefined : retryAfterPause(wish, now());
  // Never earlier than asked for; a little later, as all others were asked the same.
  return pause === undefined ? 0 : Math.min(pause * (1 + 0.1 * random()), longestRetryAfter);
}
