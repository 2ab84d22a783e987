/** A clock whose time passes as soon as a program waits for it. */

import type { Clock } from "../../src/clock.ts";

export function hastyClock(): Clock {
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
