/** Asks an API again that could not answer: a few times, later and later, and never once something of an answer has been seen. */

import { type Clock, sleep } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { ModelEvent } from "./model.ts";

/** Why there is no answer, and whether asking again may help. */
export interface ModelFailure {
  readonly error: HostError;
  readonly again?: {
    /** In a few words. */
    readonly reason: string;
    /** What the API wishes for. */
    readonly afterMs?: number;
  };
}

/** What comes of one request: it never throws, its failure is its last event. */
export type AttemptEvent = ModelEvent | { readonly type: "failed"; readonly failure: ModelFailure };

export interface AttemptOptions {
  readonly clock: Clock;
  /** From 0 to 1: so that many who were refused together do not come back together. */
  readonly random?: () => number;
}

const mostAttempts = 5;
const firstPause = 1_000;
const longestPause = 30_000;
/** Whoever asks for more patience than this is not asked again. */
const longestWish = 60_000;

export async function* withRetries(
  attempt: () => AsyncIterable<AttemptEvent>,
  signal: AbortSignal,
  { clock, random = Math.random }: AttemptOptions,
): AsyncGenerator<ModelEvent, void, undefined> {
  for (let count = 1; ; count += 1) {
    let failure: ModelFailure | undefined;
    let hasSpoken = false;
    checkCancelled(signal);
    for await (const event of attempt()) {
      checkCancelled(signal);
      if (event.type === "failed") {
        failure = event.failure;
        break;
      }
      hasSpoken = true;
      yield event;
    }
    checkCancelled(signal);
    if (failure === undefined) return;
    const { error, again } = failure;
    if (again === undefined || hasSpoken || count === mostAttempts || (again.afterMs ?? 0) > longestWish) throw error;
    const delayMs = again.afterMs ?? pauseAfter(count, random());
    yield { type: "retry", attempt: count, delayMs, reason: again.reason };
    await sleep(clock, delayMs, signal).catch(() => checkCancelled(signal));
  }
}

/** Doubled each time, less up to a half of it. */
function pauseAfter(count: number, chance: number): number {
  return Math.round(Math.min(firstPause * 2 ** (count - 1), longestPause) * (1 - chance / 2));
}

export function checkCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new HostError("cancelled", "cancelled");
}
