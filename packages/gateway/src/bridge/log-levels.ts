/** Compares MCP log levels, from `debug` (lowest) to `emergency` (highest). */

const levels: readonly unknown[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** Whether a value from a client is one of the eight MCP log levels. */
export function isLogLevel(level: unknown): level is string {
  return levels.includes(level);
}

/** Whether a message of `level` is at least as important as `least`. True for an unknown level. */
export function reaches(level: unknown, least: string): boolean {
  return !isLogLevel(level) || levels.indexOf(level) >= levels.indexOf(least);
}

/** Returns the lowest of the levels, or undefined if there are none. */
export function lowest(given: Iterable<string>): string | undefined {
  return [...given].toSorted((a, b) => levels.indexOf(a) - levels.indexOf(b))[0];
}
