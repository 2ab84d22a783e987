/** Reads the HTTP header `Retry-After`. Pure. */

/** Longest pause in milliseconds that Fairlead accepts from a server. */
export const longestRetryAfter = 300_000;

/** Milliseconds from `now` (as `Date.now`) that the header asks for, between 0 and five minutes; undefined if it is neither seconds nor a date. */
export function retryAfterPause(header: string, now: number): number | undefined {
  const text = header.trim();
  const pause = /^[+-]?\d+(\.\d*)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(pause) ? undefined : Math.min(Math.max(pause, 0), longestRetryAfter);
}
