/**
 * Limits how many items, such as log lines, may pass: several at once at the beginning, then a fixed number per second.
 */

export interface RateLimit {
  /** Returns how many of `wanted` items, such as log lines, may pass now, and counts them as passed. */
  take(wanted: number): number;
}

export interface RateLimitOptions {
  readonly perSecond: number;
  readonly burst: number;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** Creates a limit that lets `burst` items pass at once and then `perSecond` items a second. */
export function createRateLimit({ perSecond, burst, now }: RateLimitOptions): RateLimit {
  let left = burst;
  let at = now();
  return {
    take(wanted) {
      const time = now();
      left = Math.min(burst, left + ((time - at) * perSecond) / 1000);
      at = time;
      const taken = Math.min(wanted, Math.floor(left));
      left -= taken;
      return taken;
    },
  };
}
