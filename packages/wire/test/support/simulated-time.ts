/** Time that passes when a test says so, or as fast as the program can follow: nothing waits for the system's clock. */

import type { TimeSource } from "../../src/rpc/time.ts";

interface Timer {
  readonly moment: number;
  readonly action: () => void;
}

export interface StoppedTime extends TimeSource {
  /** Lets time pass; every timer that is due on the way rings at its moment, in order. */
  readonly advance: (milliseconds: number) => void;
  /** The milliseconds until each open timer rings, the soonest first. */
  readonly left: () => number[];
}

/** Time that stands still until a test advances it. */
export function stoppedTime(): StoppedTime {
  const timers = new Set<Timer>();
  let now = 0;
  const inOrder = (): Timer[] => [...timers].toSorted((one, other) => one.moment - other.moment);
  return {
    now: () => now,
    after(milliseconds, action) {
      const timer = { moment: now + milliseconds, action };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(milliseconds) {
      const end = now + milliseconds;
      for (let next = inOrder()[0]; next !== undefined && next.moment <= end; next = inOrder()[0]) {
        timers.delete(next);
        now = Math.max(now, next.moment);
        next.action();
      }
      now = end;
    },
    left: () => inOrder().map(({ moment }) => moment - now),
  };
}

/** Time that jumps to the next timer as soon as all that could be done before it is done. For servers in memory. */
export function jumpingTime(): TimeSource {
  const time = stoppedTime();
  let isJumping = false;
  function jump(): void {
    const [next] = time.left();
    isJumping = next !== undefined;
    if (next === undefined) return;
    time.advance(next);
    setImmediate(jump);
  }
  return {
    now: time.now,
    after(milliseconds, action) {
      const callOff = time.after(milliseconds, action);
      if (!isJumping) setImmediate(jump);
      isJumping = true;
      return callOff;
    },
  };
}
