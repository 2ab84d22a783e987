/** A rate limit: a number of things at once, then a number per second. */

/** A rate limit. */
export interface RateLimit {
  /** Takes up to `wanted` things; returns how many are allowed now. */
  take(wanted: number): number;
}

/** Options of `createRateLimit`. */
export interface RateLimitOptions {
  readonly perSecond: number;
  readonly burst: number;
  /** In milliseconds; never goes back. */
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
