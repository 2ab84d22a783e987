/** Writes a waiting time for a person, rounded up: `12 s`, `6 min`, `3 h`. */

const minute = 60_000;
const hour = 60 * minute;

/** Returns a waiting time such as `12 s`. The unit is `s` up to 2 minutes, `min` up to 2 hours. */
export function waitWords(milliseconds: number): string {
  if (milliseconds <= 2 * minute) return `${Math.max(0, Math.ceil(milliseconds / 1000))} s`;
  if (milliseconds <= 2 * hour) return `${Math.ceil(milliseconds / minute)} min`;
  return `${Math.ceil(milliseconds / hour)} h`;
}
