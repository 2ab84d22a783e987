/** A clock whose timers run when a test says so: each is named by its delay. Short pauses pass by themselves. */

import type { Clock } from "@fairlead/core/clock";

/** Delays below this many milliseconds are pauses, not limits. */
const pause = 500;

interface Timer {
  readonly delay: number;
  readonly at: number;
  readonly action: () => void;
}

export interface SteppedClock extends Clock {
  /** Waits until a timer with this delay is set, lets that time pass and runs it. */
  fire(delay: number): Promise<void>;
  /** Milliseconds since 1970, for code that needs the date. */
  readonly date: () => number;
  /** Lets time pass without running timers. */
  pass(milliseconds: number): void;
  readonly pending: () => number;
}

export function steppedClock(): SteppedClock {
  const timers = new Set<Timer>();
  const waiting = new Set<() => void>();
  let now = 0;

  function find(delay: number): Timer | undefined {
    return [...timers].find((timer) => timer.delay === delay);
  }

  return {
    now: () => now,
    date: () => 1_800_000_000_000 + now,
    pass(milliseconds) {
      now += milliseconds;
    },
    pending: () => timers.size,
    after(delay, action) {
      if (delay < pause) {
        const timer = setTimeout(action, 0);
        return () => clearTimeout(timer);
      }
      const timer = { delay, at: now + delay, action };
      timers.add(timer);
      for (const wake of waiting) wake();
      return () => timers.delete(timer);
    },
    async fire(delay) {
      let timer = find(delay);
      while (timer === undefined) {
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
        timer = find(delay);
      }
      timers.delete(timer);
      now = Math.max(now, timer.at);
      timer.action();
    },
  };
}
