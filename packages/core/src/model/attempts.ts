/**
 * Repeats a failed request to a model's API, with growing pauses. Does not repeat it if a part of the answer has
 * arrived.
 */

import { type Clock, sleep } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { ModelEvent } from "./model.ts";

/** Why the model gave no answer, and whether a retry may help. */
export interface ModelFailure {
  readonly error: HostError;
  readonly again?: {
    /** Why the request failed, in a few words. */
    readonly reason: string;
    /** The waiting time that the API asks for, in milliseconds. */
    readonly afterMs?: number;
  };
}

/** An event of one attempt. An attempt never throws; if it fails, its last event is `failed`. */
export type AttemptEvent = ModelEvent | { readonly type: "failed"; readonly failure: ModelFailure };

/** Options of `withRetries`. */
export interface AttemptOptions {
  readonly clock: Clock;
  /**
   * Returns a random number from 0 to 1. It varies the pauses, so that many clients do not retry at the same moment.
   */
  readonly random?: () => number;
}

const mostAttempts = 5;
const firstPause = 1_000;
const longestPause = 30_000;
/** The longest pause, in milliseconds, that an API may ask for. If it asks for more, the request is not repeated. */
const longestRetryAfter = 60_000;

/** Runs attempts until one succeeds. Throws the last error if a retry would not help or too many attempts failed. */
export async function* withRetries(
  attempt: () => AsyncIterable<AttemptEvent>,
  signal: AbortSignal,
  { clock, random = Math.random }: AttemptOptions,
): AsyncGenerator<ModelEvent, void, undefined> {
  for (let count = 1; ; count += 1) {
    let failure: ModelFailure | undefined;
    let hasAnswered = false;
    checkCancelled(signal);
    for await (const event of attempt()) {
      checkCancelled(signal);
      if (event.type === "failed") {
        failure = event.failure;
        break;
      }
      hasAnswered = true;
      yield event;
    }
    checkCancelled(signal);
    if (failure === undefined) return;
    const { error, again } = failure;
    if (again === undefined || hasAnswered || count === mostAttempts || (again.afterMs ?? 0) > longestRetryAfter)
      throw error;
    const delayMs = again.afterMs ?? pauseAfter(count, random());
    yield { type: "retry", attempt: count, delayMs, reason: again.reason };
    await sleep(clock, delayMs, signal).catch(() => checkCancelled(signal));
  }
}

/**
 * The pause before the next attempt, in milliseconds. It starts at 1 s and doubles with each attempt, up to 30 s.
 * `chance`, a random number from 0 to 1, makes it shorter by up to half.
 */
function pauseAfter(count: number, chance: number): number {
  return Math.round(Math.min(firstPause * 2 ** (count - 1), longestPause) * (1 - chance / 2));
}

/** Throws if the signal is aborted. @throws HostError `cancelled` */
export function checkCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new HostError("cancelled", "cancelled");
}
