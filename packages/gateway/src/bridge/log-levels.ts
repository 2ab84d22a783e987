/** Compares log levels of the protocol. Pure. */

const levels: readonly unknown[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export function isLogLevel(level: unknown): level is string {
  return levels.includes(level);
}

/** Whether a message of this level reaches a client that asked for `least`; an unknown level does. */
export function reaches(level: unknown, least: string): boolean {
  return !isLogLevel(level) || levels.indexOf(level) >= levels.indexOf(least);
}

/** The level that lets the most messages through; undefined if there is none. */
export function lowest(given: Iterable<string>): string | undefined {
  return [...given].toSorted((a, b) => levels.indexOf(a) - levels.indexOf(b))[0];
}
