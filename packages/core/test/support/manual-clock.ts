/** A clock that a test moves by hand. */

import type { Clock } from "../../src/clock.ts";

export interface ManualClock extends Clock {
  /** Lets time pass; whatever falls due runs in order, and what that schedules too. */
  pass(milliseconds: number): Promise<void>;
  /** How much is still to fall due. */
  readonly pending: () => number;
}

export function manualClock(): ManualClock {
  const timers = new Map<object, { readonly at: number; readonly action: () => void }>();
  let now = 0;
  return {
    now: () => now,
    pending: () => timers.size,
    after(milliseconds, action) {
      const key = {};
      timers.set(key, { at: now + milliseconds, action });
      return () => timers.delete(key);
    },
    async pass(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        // Whatever waits on a promise gets its turn before time moves on.
        await new Promise(setImmediate);
        const [due] = [...timers].sort(([, a], [, b]) => a.at - b.at);
        if (due === undefined || due[1].at > end) break;
        now = due[1].at;
        timers.delete(due[0]);
        due[1].action();
      }
      now = end;
    },
  };
}
