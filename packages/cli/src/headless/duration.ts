/** Parses durations such as `500ms`, `10s` and `1m`. */

import { HostError } from "@fairlead/core/errors";

const units: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
]);

/** Returns milliseconds; only `0` needs no unit. @throws HostError `usage` */
export function readDuration(option: string, text: string): number {
  if (text === "0") return 0;
  const [, number = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)$/.exec(text) ?? [];
  const length = units.get(unit);
  if (length !== undefined) return Math.round(Number(number) * length);
  throw new HostError("usage", `${option} must be a time such as 500ms, 10s or 1m, not "${text}"`);
}
