/** An age in words: `5 minutes`, `3 days`. */

import { type SafeText, safe } from "@fairlead/core/text/safe-text";
import { count } from "./output.ts";

const minute = 60 * 1000;
const hour = 60 * minute;
export const day: number = 24 * hour;

export function ageWords(milliseconds: number): SafeText {
  if (milliseconds < minute) return safe`less than a minute`;
  if (milliseconds < 2 * hour) return count(Math.floor(milliseconds / minute), "minute");
  if (milliseconds < 2 * day) return count(Math.floor(milliseconds / hour), "hour");
  return count(Math.floor(milliseconds / day), "day");
}
