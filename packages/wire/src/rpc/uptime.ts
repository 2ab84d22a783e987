/** Time that only goes forward, in milliseconds. */

/** `performance.now()` tells it too, but its first use loads a part of Node that costs more than many requests. */
export function uptime(): number {
  return process.uptime() * 1000;
}
