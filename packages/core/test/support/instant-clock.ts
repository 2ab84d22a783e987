/**
 * A clock that skips every wait: a timer runs in the next iteration of the event loop, and `now` moves on by its delay.
 */

import type { Clock } from "../../src/clock.ts";

export function instantClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    after(milliseconds, action) {
      const waiting = setImmediate(() => {
        now += milliseconds;
        action();
      });
      return () => clearImmediate(waiting);
    },
  };
}
