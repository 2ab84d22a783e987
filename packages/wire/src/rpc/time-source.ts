/** A clock that is passed as a parameter, so that a test can decide when time passes. */

export interface TimeSource {
  /** Returns milliseconds since a fixed moment in the past. The value never decreases. */
  readonly now: () => number;
  /**
   * Runs `action` after `milliseconds`, unless the returned function is called first. A `background` timer does not
   * keep the process alive.
   */
  readonly after: (milliseconds: number, action: () => void, how?: { readonly background?: boolean }) => () => void;
}

/** Returns milliseconds since the process started. `performance.now()` would load a slow part of Node first. */
export function uptime(): number {
  return process.uptime() * 1000;
}

/** The real clock, with Node's timers. */
export const systemTime: TimeSource = {
  now: uptime,
  after(milliseconds, action, how) {
    const timer = setTimeout(action, milliseconds);
    if (how?.background) timer.unref();
    return () => clearTimeout(timer);
  },
};
