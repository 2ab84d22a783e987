/** Notices that the machine slept or the process was stopped: the wall clock advances more than the timers. */

import type { Clock } from "../../clock.ts";

/** Options of `watchForSleep`. */
export interface SleepWatchOptions {
  readonly clock: Clock;
  /** The wall clock, in milliseconds since 1970. `clock` stands still while the machine sleeps. */
  readonly now: () => number;
  readonly onWake: () => void;
}

const step = 10_000;
const noticed = 30_000;

/** Starts the watch; returns the function that stops it. */
export function watchForSleep({ clock, now, onWake }: SleepWatchOptions): () => void {
  let last = now();
  let cancelTimer = clock.after(step, look, { background: true });

  function look(): void {
    const time = now();
    const isAwakeAgain = time - last > noticed;
    last = time;
    cancelTimer = clock.after(step, look, { background: true });
    if (isAwakeAgain) onWake();
  }

  return () => cancelTimer();
}
