/** Which lines of a log are wanted: `--since` and `--grep`. Pure. */

import { HostError } from "@fairlead/core/errors";
import { errorMessage } from "@fairlead/wire/text";

export type LogFilter = (line: string) => boolean;

export interface FilterOptions {
  readonly since?: string;
  readonly grep?: string;
}

/** `now`: milliseconds since 1970. */
export function createLogFilter({ since, grep }: FilterOptions, now: number): LogFilter {
  const from = since === undefined ? undefined : new Date(toMoment(since, now)).toISOString();
  const pattern = grep === undefined ? undefined : toPattern(grep);
  // Times in one form and one zone compare as text.
  return (line) => (from === undefined || line >= from) && (pattern === undefined || pattern.test(line));
}

const units: ReadonlyMap<string, number> = new Map([
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

/** `10m`: that long ago; otherwise a date or a time as ISO 8601 writes them. */
export function toMoment(word: string, now: number): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)\s*([smhd])$/.exec(word) ?? [];
  const moment = amount === undefined ? Date.parse(word) : now - Number(amount) * (units.get(unit) ?? 0);
  if (Number.isNaN(moment) || Math.abs(moment) > 8.64e15)
    throw new HostError("usage", `--since "${word}" is neither a time nor a length of time`, {
      next: "--since 10m, --since 2h, --since 2026-01-31 or --since 2026-01-31T08:30",
    });
  return moment;
}

/** Capital letters count only where some are given. */
function toPattern(text: string): RegExp {
  try {
    return new RegExp(text, text === text.toLowerCase() ? "iu" : "u");
  } catch (error) {
    const reason = errorMessage(error);
    throw new HostError("usage", `--grep: ${reason}`, {
      next: "Put a backslash before characters that are meant as such.",
    });
  }
}
