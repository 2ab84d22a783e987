/** What a server means by `Retry-After`: how long to leave it alone. Pure. */

/** Milliseconds; whoever asks for more is asked again all the same. */
export const longestWish = 300_000;

/** What a `Retry-After` comes to, in milliseconds from now (as `Date.now`): seconds or a date, from now to five minutes on; undefined if it is neither. */
export function retryAfterPause(wish: string, now: number): number | undefined {
  const text = wish.trim();
  const pause = /^[+-]?\d+(\.\d*)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(pause) ? undefined : Math.min(Math.max(pause, 0), longestWish);
}
