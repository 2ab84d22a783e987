/** Decides whether and when Fairlead reconnects a server whose connection ended. Pure. */

import { longestRetryAfter, type RetryClass, retryAfterPause } from "../connect/retryable.ts";

/** Earlier failures of a server. */
export interface RetryHistory {
  /** The number of failures in a row. */
  readonly tries: number;
  /** The number of crashes that came less than a minute after a start, without a longer run between them. */
  readonly crashes: number;
  /** Whether the server has worked since a person last started it. If not, its settings are probably wrong. */
  readonly hasWorked: boolean;
}

/** The history of a server without failures. */
export const emptyHistory: RetryHistory = { tries: 0, crashes: 0, hasWorked: false };

/** A failure of a server. */
export interface End {
  readonly retry: RetryClass;
  /** Milliseconds between the server's start and the failure. */
  readonly lasted: number;
  /** Whether the server was connected and its catalog had been read. */
  readonly wasUp: boolean;
}

/** The next action after a failure. */
export type Plan =
  /** Stay disconnected until a request needs the server or a person starts it. */
  | { readonly kind: "stay" }
  | { readonly kind: "try_at_once" }
  | { readonly kind: "wait"; readonly milliseconds: number }
  | { readonly kind: "give_up" };

/** The random numbers and the wall clock that `planAfter` needs. */
export interface RetryInputs {
  readonly random: () => number;
  /** The wall clock, in milliseconds since 1970. */
  readonly now: () => number;
}

/** A crash counts towards `mostCrashes` if it comes within this many milliseconds after the start. */
export const soon = 60_000;
/** The number of crashes in a row after which Fairlead gives up. */
export const mostCrashes = 5;

/** Returns the next action after a failure, and the history to pass in at the next failure. */
export function planAfter(
  before: RetryHistory,
  end: End,
  inputs: RetryInputs,
): { readonly plan: Plan; readonly history: RetryHistory } {
  const start = end.wasUp && end.lasted >= soon ? emptyHistory : before;
  const { tries } = start;
  const hasWorked = before.hasWorked || end.wasUp;
  const kind = kindOf(end);
  const crashes = start.crashes + (kind === "crash" && end.lasted < soon ? 1 : 0);
  const history = { tries: tries + 1, crashes, hasWorked };
  const wait = (after: number) => {
    const milliseconds = Math.max(backoffPause(after, inputs.random), retryAfterIn(end.retry, inputs));
    return { plan: { kind: "wait", milliseconds }, history } as const;
  };
  switch (kind) {
    case "never":
      return { plan: { kind: "stay" }, history: before };
    case "session":
      // Only the first expired session is replaced at once, because the server may end every new session too.
      return tries === 0 ? { plan: { kind: "try_at_once" }, history } : wait(tries - 1);
    case "outage":
      return wait(tries);
    case "crash":
      if (!hasWorked) return { plan: { kind: "stay" }, history: before };
      if (crashes >= mostCrashes) return { plan: { kind: "give_up" }, history };
      return wait(tries);
  }
}

/** The kind of a failure. The loss of a working connection counts as `crash`, not as `outage`. */
function kindOf({ retry: { kind }, wasUp }: End): RetryClass["kind"] {
  return wasUp && kind === "outage" ? "crash" : kind;
}

function retryAfterIn(retry: RetryClass, { random, now }: RetryInputs): number {
  const header = retry.kind === "outage" ? retry.retryAfter : undefined;
  const pause = header === undefined ? undefined : retryAfterPause(header, now());
  // Waits up to 10 % longer than requested, so that clients that got the same `Retry-After` header do not all reconnect
  // at once.
  return pause === undefined ? 0 : Math.min(pause * (1 + 0.1 * random()), longestRetryAfter);
}

/** The first pause between attempts to connect, in milliseconds. Pauses grow exponentially and vary at random. */
const firstPause = 1000;
const growth = 1.6;
const jitter = 0.2;
/** Maximum pause in milliseconds, including the random part. */
const longestPause = 60_000;

/** Milliseconds to wait after `tries` failed attempts. `random` is a function like `Math.random`. */
export function backoffPause(tries: number, random: () => number): number {
  const pause = Math.min(firstPause * growth ** tries, longestPause / (1 + jitter));
  return pause * (1 + jitter * (2 * random() - 1));
}
