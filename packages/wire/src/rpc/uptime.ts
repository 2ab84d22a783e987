/** A monotonic time in milliseconds. */

/**
 * Returns milliseconds since the process started. `performance.now()` is not used, because its first use loads a slow
 * part of Node.
 */
export function uptime(): number {
  return process.uptime() * 1000;
}
