/** Formats points in time and ages as text. */

import { sep } from "node:path";
import { type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { count } from "./output.ts";

/**
 * Formats a time without fractions of a second: `2026-01-31 09:30:05` in this machine's time zone, or
 * `2026-01-31T08:30:05Z` in UTC.
 */
export function timeText(time: string, isUtc: boolean): string {
  if (isUtc) return time.replace(/\.\d+Z$/, "Z");
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

const minute = 60 * 1000;
const hour = 60 * minute;
/** Number of milliseconds in a day. */
export const day: number = 24 * hour;

/** Returns an age in words: `5 minutes`, `3 days`. */
export function ageWords(milliseconds: number): SafeText {
  if (milliseconds < minute) return safe`less than a minute`;
  if (milliseconds < 2 * hour) return count(Math.floor(milliseconds / minute), "minute");
  if (milliseconds < 2 * day) return count(Math.floor(milliseconds / hour), "hour");
  return count(Math.floor(milliseconds / day), "day");
}

// Shortens paths to the form in which people write them.

/** Returns the path with `~` in place of the home folder. */
export function shortPath(path: string, home: string): SafeText {
  if (path === home) return safe`~`;
  return path.startsWith(`${home}${sep}`) ? safe`~${toSafeLine(path.slice(home.length))}` : toSafeLine(path);
}
