/** Decides whether and when to reconnect a server that ended. Pure. */

import { longestRetryAfter, type RetryClass, retryAfterPause } from "../../connect/retryable.ts";

/** Earlier failures of a server. */
export interface RetryHistory {
  /** Failures in a row after which Fairlead tried again. */
  readonly tries: number;
  /** Failures in a row that came soon after the start. */
  readonly crashes: number;
  /** Whether the server has worked before, so that its settings are not the cause of later failures. */
  readonly hasWorked: boolean;
}

/** The history of a server without failures. */
export const emptyHistory: RetryHistory = { tries: 0, crashes: 0, hasWorked: false };

/** A failure of a server. */
export interface End {
  readonly retry: RetryClass;
  /** Milliseconds from the server's start to the failure. */
  readonly lasted: number;
  /** Whether the server was connected and its catalog was read. */
  readonly wasUp: boolean;
}

/** The next action after a failure. */
export type Plan =
  /** Stay disconnected until a request or the person needs the server. */
  | { readonly kind: "stay" }
  | { readonly kind: "try_at_once" }
  | { readonly kind: "wait"; readonly milliseconds: number }
  | { readonly kind: "give_up" };

/** Random numbers and time for a plan. */
export interface RetryInputs {
  readonly random: () => number;
  /** The wall clock, in milliseconds since 1970. */
  readonly now: () => number;
}

/** Milliseconds. A failure within that time after the start counts as a crash at the start. */
export const soon = 60_000;
/** Crashes in a row after which Fairlead gives up. */
export const mostCrashes = 5;

/** The plan after a failure, and the history for the next one. */
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
      // Only the first expired session is replaced at once: a server may lose every session.
      return tries === 0 ? { plan: { kind: "try_at_once" }, history } : wait(tries - 1);
    case "outage":
      return wait(tries);
    case "crash":
      if (!hasWorked) return { plan: { kind: "stay" }, history: before };
      if (crashes >= mostCrashes) return { plan: { kind: "give_up" }, history };
      return wait(tries);
  }
}

/** A lost connection counts as a crash, not as an outage: the server may be reachable. */
function kindOf({ retry: { kind }, wasUp }: End): RetryClass["kind"] {
  return wasUp && kind === "outage" ? "crash" : kind;
}

function retryAfterIn(retry: RetryClass, { random, now }: RetryInputs): number {
  const header = retry.kind === "outage" ? retry.retryAfter : undefined;
  const pause = header === undefined ? undefined : retryAfterPause(header, now());
  // Up to 10 % later than requested, because other clients got the same header.
  return pause === undefined ? 0 : Math.min(pause * (1 + 0.1 * random()), longestRetryAfter);
}

/** Pauses between attempts to connect: exponential with jitter. Pure. */
const firstPause = 1000;
const growth = 1.6;
const jitter = 0.2;
/** Maximum pause in milliseconds, including jitter. */
const longestPause = 60_000;

/** Milliseconds to wait after `tries` failed attempts; `random` as `Math.random`. */
export function backoffPause(tries: number, random: () => number): number {
  const pause = Math.min(firstPause * growth ** tries, longestPause / (1 + jitter));
  return pause * (1 + jitter * (2 * random() - 1));
}
