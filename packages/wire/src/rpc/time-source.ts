/** Time as a parameter: what waits is given its time, so that a test decides when a moment comes. */

import { uptime } from "./uptime.ts";

export interface TimeSource {
  /** Milliseconds since some fixed moment; never goes back. */
  readonly now: () => number;
  /** Runs `action` once, that many milliseconds from now; returns the function that calls it off. In the background, it keeps no process alive. */
  readonly after: (milliseconds: number, action: () => void, how?: { readonly background?: boolean }) => () => void;
}

export const systemTime: TimeSource = {
  now: uptime,
  after(milliseconds, action, how) {
    const timer = setTimeout(action, milliseconds);
    if (how?.background) timer.unref();
    return () => clearTimeout(timer);
  },
};
