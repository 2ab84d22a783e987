/** Time as a parameter, so that a test decides when time passes. */

/** A clock with timers. */
export interface TimeSource {
  /** Returns milliseconds since some fixed moment. The value never decreases. */
  readonly now: () => number;
  /**
   * Runs `action` once after `milliseconds`. Returns the function that cancels it. A `background` timer does not keep
   * the process alive.
   */
  readonly after: (milliseconds: number, action: () => void, how?: { readonly background?: boolean }) => () => void;
}

/**
 * Returns milliseconds since the process started. `performance.now()` is not used, because its first use loads a slow
 * part of Node.
 */
export function uptime(): number {
  return process.uptime() * 1000;
}

/** The time of the operating system. */
export const systemTime: TimeSource = {
  now: uptime,
  after(milliseconds, action, how) {
    const timer = setTimeout(action, milliseconds);
    if (how?.background) timer.unref();
    return () => clearTimeout(timer);
  },
};
