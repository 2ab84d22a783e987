/** A monotonic time in milliseconds. */

/** Milliseconds since the process started. Not `performance.now()`, whose first use loads a slow part of Node. */
export function uptime(): number {
  return process.uptime() * 1000;
}
