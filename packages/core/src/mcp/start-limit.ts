/** How many programs may be starting at once: a start costs the machine much, waiting for one that is silent costs nothing. */

import type { Clock } from "../clock.ts";

export interface StartLimit {
  /** Resolves when there is a place, with the function that gives it back; rejects with the signal's reason. */
  acquire(signal: AbortSignal): Promise<() => void>;
}

export interface StartLimitOptions {
  readonly limit: number;
  /** After so many milliseconds a place is given on: whoever still starts is more likely waiting than working. */
  readonly slotTimeout: number;
  readonly clock: Clock;
}

export function createStartLimit({ limit, slotTimeout, clock }: StartLimitOptions): StartLimit {
  const waiting = new Set<() => void>();
  let free = limit;

  function take(): () => void {
    free -= 1;
    let isHeld = true;
    function leave(): void {
      if (!isHeld) return;
      isHeld = false;
      callOff();
      free += 1;
      const [admitNext] = waiting;
      admitNext?.();
    }
    const callOff = clock.after(slotTimeout, leave);
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
