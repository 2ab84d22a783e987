/**
 * Compares this machine's clock with a server's clock. Error messages report a difference. Fairlead never corrects the
 * time.
 */

/** A smaller difference (in milliseconds) is ignored, because rounding and the network cause it. */
const tolerance = 30_000;

/**
 * Returns how far this machine's clock is ahead of the server's, in milliseconds. Undefined if the date is invalid.
 *
 * @param date The response's header `Date`.
 * @param at This machine's time when the server answered, in milliseconds since 1970.
 */
export function clockLeadOf(date: string | null | undefined, at: number): number | undefined {
  const theirs = Date.parse(date ?? "");
  // `Date` has no fractions of a second, so on average half a second is missing.
  return Number.isNaN(theirs) ? undefined : at - (theirs + 500);
}

/**
 * Returns the cause and the advice for an error message. Undefined if the clocks agree. `now` is this machine's time.
 */
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

/** Returns a duration as text (`45 s`, `7 min` or `3 h`). */
export function durationWords(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
