/** A clock that a test moves by hand; what falls due runs at once, in order. */

import type { Clock } from "@fairlead/core/clock";

export interface HandClock extends Clock {
  readonly pass: (milliseconds: number) => void;
}

export function handClock(): HandClock {
  const timers = new Map<object, { readonly at: number; readonly action: () => void }>();
  let now = 0;
  return {
    now: () => now,
    after(milliseconds, action) {
      const key = {};
      timers.set(key, { at: now + milliseconds, action });
      return () => timers.delete(key);
    },
    pass(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
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
