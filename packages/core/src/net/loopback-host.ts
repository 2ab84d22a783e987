/** Recognises host names of this machine without a lookup. */

/** Whether a `URL`'s `hostname`, which is already normalised, is localhost or a loopback address. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:[a-z0-9-]+\.)*localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
