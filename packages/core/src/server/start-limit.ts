/** Limits how many programs start at the same time, because a start needs much CPU time. */

import type { Clock } from "../clock.ts";

/** Makes programs wait if too many are starting. */
export interface StartLimit {
  /**
   * Waits until a program may start. Resolves with a function to call when the program has started. Rejects with the
   * signal's reason.
   */
  acquire(signal: AbortSignal): Promise<() => void>;
}

/** How many programs may start at the same time, and how long one start may block another. */
export interface StartLimitOptions {
  readonly limit: number;
  /**
   * After this many milliseconds, a program that is still starting no longer counts. It probably waits and uses no CPU
   * time.
   */
  readonly slotTimeout: number;
  readonly clock: Clock;
}

/** Creates a limit that all servers of a host share. */
export function createStartLimit({ limit, slotTimeout, clock }: StartLimitOptions): StartLimit {
  const waiting = new Set<() => void>();
  let free = limit;

  function take(): () => void {
    free -= 1;
    let isHeld = true;
    function leave(): void {
      if (!isHeld) return;
      isHeld = false;
      cancelTimer();
      free += 1;
      const [admitNext] = waiting;
      admitNext?.();
    }
    const cancelTimer = clock.after(slotTimeout, leave);
    return leave;
  }

  return {
    async acquire(signal) {
      signal.throwIfAborted();
      if (free > 0) return take();
      return new Promise((resolve, reject) => {
        const admit = (): void => {
          waiting.delete(admit);
          signal.removeEventListener("abort", abort);
          resolve(take());
        };
        const abort = (): void => {
          waiting.delete(admit);
          reject(signal.reason);
        };
        waiting.add(admit);
        signal.addEventListener("abort", abort, { once: true });
      });
    },
  };
}
