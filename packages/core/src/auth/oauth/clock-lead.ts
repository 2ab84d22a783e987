/**
 * Compares this machine's clock with a server's clock. Fairlead reports a difference in error messages, but never
 * corrects the time.
 */

/**
 * Fairlead ignores a difference of up to this many milliseconds between two clocks, because rounding and network delay
 * cause such differences.
 */
const tolerance = 30_000;

/**
 * How many milliseconds this machine's clock is ahead of the server's clock. Undefined if the date is not valid.
 *
 * @param date The response's header `Date`.
 * @param at This machine's time when the server answered, in milliseconds since 1970.
 */
export function clockLeadOf(date: string | null | undefined, at: number): number | undefined {
  const theirs = Date.parse(date ?? "");
  // The header `Date` is rounded down to whole seconds, so half a second is added.
  return Number.isNaN(theirs) ? undefined : at - (theirs + 500);
}

/** The cause and the next step for an error message. Undefined if the clocks agree. `now` is this machine's time. */
export function clockProblem(
  lead: number | undefined,
  now: number,
): { readonly why: string; readonly next: string } | undefined {
  if (lead === undefined || Math.abs(lead) <= tolerance) return undefined;
  const theirs = new Date(now - lead).toISOString();
  return {
    why: `this machine's clock is ${durationWords(Math.abs(lead))} ${lead > 0 ? "ahead" : "behind"} (the server's clock shows ${theirs})`,
    next: "Set this machine's clock, for example with NTP, then try again.",
  };
}

/** A duration in words, such as `45 s`, `7 min` or `3 h`. */
export function durationWords(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
