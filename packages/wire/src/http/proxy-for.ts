/** Finds the proxy for a URL in the proxy variables of an environment. Pure functions. */

/** Returns the proxy's URL. Returns undefined if no proxy is set or `NO_PROXY` exempts the host. */
export function proxyFor(url: URL, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const value = (name: string): string => env[name] || env[name.toUpperCase()] || "";
  const scheme = url.protocol.slice(0, -1);
  const proxy = value(`${scheme}_proxy`) || value("all_proxy");
  if (proxy === "" || isExempt(url, value("no_proxy"))) return undefined;
  /*
   * A proxy URL without a scheme means plain HTTP, as in curl. A request to an https URL is still encrypted, because it
   * goes through a tunnel.
   */
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/**
 * Whether the host matches `NO_PROXY`. Its patterns are `*`, `host`, `.suffix` or `*.suffix`, optionally with a port,
 * separated by commas or spaces.
 */
function isExempt(url: URL, exceptions: string): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return exceptions
    .toLowerCase()
    .split(/[,\s]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      const [, host = entry, onlyPort = port] = /^(.+):(\d+)$/.exec(entry) ?? [];
      if (Number(onlyPort) !== Number(port)) return false;
      return /^[.*]/.test(host) ? url.hostname.endsWith(host.replace(/^\*/, "")) : url.hostname === host;
    });
}
