/** Reads a duration of the command line: `500ms`, `10s`, `2m`; a bare number is milliseconds. Pure. */

import { HostError } from "@fairlead/core/errors";

const units: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
]);

/** Returns milliseconds. @throws HostError `usage` */
export function readDuration(option: string, text: string): number {
  const [, number = "", unit = "-"] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|)$/.exec(text) ?? [];
  const length = units.get(unit);
  if (length !== undefined) return Math.round(Number(number) * length);
  throw new HostError("usage", `${option} must be a time such as 500ms, 10s or 2m, not "${text}"`);
}

/** The same for a limit, which is more than nothing. @throws HostError `usage` */
export function readTimeout(text: string): number {
  const milliseconds = readDuration("--timeout", text);
  if (milliseconds > 0) return milliseconds;
  throw new HostError("usage", `--timeout must be more than 0, not "${text}"`);
}
