/** How long to wait before the next try: longer after each one, and never twice the same. Pure. */

const firstPause = 1000;
const growth = 1.6;
const jitter = 0.2;
/** Jitter included. */
const longestPause = 60_000;

/** In milliseconds, after so many tries that failed before. `random` gives numbers from 0 to 1, as `Math.random`. */
export function backoffPause(tries: number, random: () => number): number {
  const pause = Math.min(firstPause * growth ** tries, longestPause / (1 + jitter));
  return pause * (1 + jitter * (2 * random() - 1));
}
