/** Notices that the machine was asleep, or the process stopped: a step of the clock on the wall that no timer took. */

import type { Clock } from "../../clock.ts";

export interface SleepWatchOptions {
  readonly clock: Clock;
  /** Milliseconds since 1970: the host's own clock stands still while the machine sleeps. */
  readonly today: () => number;
  readonly onWake: () => void;
}

const step = 10_000;
const noticed = 30_000;

/** Returns the function that ends the watch. */
export function watchForSleep({ clock, today, onWake }: SleepWatchOptions): () => void {
  let last = today();
  let callOff = clock.after(step, look, { background: true });

  function look(): void {
    const now = today();
    const isAwakeAgain = now - last > noticed;
    last = now;
    callOff = clock.after(step, look, { background: true });
    if (isAwakeAgain) onWake();
  }

  return () => callOff();
}
