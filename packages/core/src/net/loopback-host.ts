/** Which host names mean this machine, whatever a resolver says. Light: no table of address ranges is loaded for it. */

/** `hostname` as a `URL` has it: numbers in any notation have become dotted decimals by then. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:[a-z0-9-]+\.)*localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
