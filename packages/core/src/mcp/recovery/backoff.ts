/** Pauses between attempts to connect: exponential with jitter. Pure. */

const firstPause = 1000;
const growth = 1.6;
const jitter = 0.2;
/** Jitter included. */
const longestPause = 60_000;

/** Milliseconds to wait after `tries` failed attempts; `random` as `Math.random`. */
export function backoffPause(tries: number, random: () => number): number {
  const pause = Math.min(firstPause * growth ** tries, longestPause / (1 + jitter));
  return pause * (1 + jitter * (2 * random() - 1));
}
