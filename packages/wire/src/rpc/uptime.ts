/** A monotonic time in milliseconds. */

/** Milliseconds since the system started. Not `performance.now()`, whose first use loads a slow part of Node. */
export function uptime(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
