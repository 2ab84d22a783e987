/** Compares MCP log levels. Pure functions. */

const levels: readonly unknown[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export function isLogLevel(level: unknown): level is string {
  return levels.includes(level);
}

/**
 * Whether a client that asked for the level `least` gets a message of the level `level`. True if `level` is unknown.
 */
export function reaches(level: unknown, least: string): boolean {
  return !isLogLevel(level) || levels.indexOf(level) >= levels.indexOf(least);
}

/** Returns the lowest of several levels. Returns undefined if the list is empty. */
export function lowest(given: Iterable<string>): string | undefined {
  return [...given].toSorted((a, b) => levels.indexOf(a) - levels.indexOf(b))[0];
}
