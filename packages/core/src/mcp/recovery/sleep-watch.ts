/** Notices that the machine was asleep, or the process stopped: a step of the clock on the wall that no timer took. */

import type { Clock } from "../../clock.ts";

export interface SleepWatchOptions {
  readonly clock: Clock;
  /** Milliseconds since 1970: the host's own clock stands still while the machine sleeps. */
  readonly now: () => number;
  readonly onWake: () => void;
}

const step = 10_000;
const noticed = 30_000;

/** Returns the function that ends the watch. */
export function watchForSleep({ clock, now, onWake }: SleepWatchOptions): () => void {
  let last = now();
  let callOff = clock.after(step, look, { background: true });

  function look(): void {
    const time = now();
    const isAwakeAgain = time - last > noticed;
    last = time;
    callOff = clock.after(step, look, { background: true });
    if (isAwakeAgain) onWake();
  }

  return () => callOff();
}
