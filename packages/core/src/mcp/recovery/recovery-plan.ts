/** What to do about a server that ended: whether it is tried again, and when. Pure. */

import { longestWish, retryAfterPause } from "../../connect/retry-after.ts";
import type { Healing } from "../../connect/retryable.ts";
import { backoffPause } from "./backoff.ts";

/** What is remembered of a server from one end to the next. */
export interface History {
  /** Ends in a row after which it was tried again. */
  readonly tries: number;
  /** Ends in a row that came soon after their start. */
  readonly crashes: number;
  /** It worked once: its settings are not to blame for what came later. */
  readonly hasWorked: boolean;
}

export const noHistory: History = { tries: 0, crashes: 0, hasWorked: false };

export interface End {
  readonly healing: Healing;
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

export interface Chance {
  readonly random: () => number;
  /** Milliseconds since 1970. */
  readonly today: () => number;
}

/** Who stays up that long is well. */
export const soon = 60_000;
export const mostCrashes = 5;

export function planAfter(
  before: History,
  end: End,
  chance: Chance,
): { readonly plan: Plan; readonly history: History } {
  const start = end.wasUp && end.lasted >= soon ? noHistory : before;
  const { tries } = start;
  const hasWorked = before.hasWorked || end.wasUp;
  const kind = kindOf(end);
  const crashes = start.crashes + (kind === "crash" && end.lasted < soon ? 1 : 0);
  const history = { tries: tries + 1, crashes, hasWorked };
  const wait = (after: number) => {
    const milliseconds = Math.max(backoffPause(after, chance.random), wishIn(end.healing, chance));
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
function kindOf({ healing: { kind }, wasUp }: End): Healing["kind"] {
  return wasUp && kind === "outage" ? "crash" : kind;
}

function wishIn(healing: Healing, { random, today }: Chance): number {
  const wish = healing.kind === "outage" ? healing.retryAfter : undefined;
  const pause = wish === undefined ? undefined : retryAfterPause(wish, today());
  // Never earlier than asked for; a little later, as all others were asked the same.
  return pause === undefined ? 0 : Math.min(pause * (1 + 0.1 * random()), longestWish);
}
