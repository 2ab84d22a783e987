/** Reads durations on the command line: `500ms`, `10s`, `2m`. A number without a unit means milliseconds. */

import { HostError } from "@fairlead/core/errors";
import type { Command } from "commander";

const units: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
]);

/** The command or edit that the error message suggests. */
type Hint = { readonly next?: string };

/** Returns the duration in milliseconds. Returns undefined if the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const [, number = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(text) ?? [];
  const length = units.get(unit);
  return number === "" || length === undefined ? undefined : Math.round(Number(number) * length);
}

/**
 * Parses an option's value as a duration, and returns milliseconds.
 * @throws HostError `usage` if the text is not a duration
 */
export function readDuration(option: string, text: string, hint: Hint = {}): number {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined) return milliseconds;
  throw new HostError("usage", `${option} must be a time such as 500ms, 10s or 2m, not "${text}"`, hint);
}

/** Adds the option `--timeout` to a command. Read it with `timeoutOption`. */
export function defineTimeoutOption(command: Command): void {
  command.option("--timeout <time>", "give up after this time without a response or progress: 500ms, 10s, 2m");
}

/**
 * Parses the value of `--timeout`, and returns milliseconds. The value must be more than 0.
 *
 * @throws HostError `usage`
 */
export function readTimeout(text: string, hint: Hint = {}): number {
  const milliseconds = readDuration("--timeout", text, hint);
  if (milliseconds > 0) return milliseconds;
  throw new HostError("usage", `--timeout must be more than 0, not "${text}"`, hint);
}

/**
 * Returns `--timeout` as a request option, in milliseconds. Without `--timeout`, returns an empty object.
 * @throws HostError `usage`
 */
export function timeoutOption({ timeout }: { readonly timeout?: string }): { readonly timeout?: number } {
  return timeout === undefined ? {} : { timeout: readTimeout(timeout) };
}
