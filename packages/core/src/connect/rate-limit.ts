/** A rate limit: allows several items at once at the beginning, then a fixed number per second. */

/** A rate limit. */
export interface RateLimit {
  /** Asks for `wanted` items. Returns how many of them are allowed now, and counts those as used. */
  take(wanted: number): number;
}

/** Options of `createRateLimit`. */
export interface RateLimitOptions {
  readonly perSecond: number;
  readonly burst: number;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

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
