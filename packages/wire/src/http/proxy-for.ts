/** Finds the proxy for a URL in environment variables such as `HTTPS_PROXY`. */

/** Returns the proxy's URL, or undefined if no proxy is set or `NO_PROXY` contains the host. */
export function proxyFor(url: URL, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const value = (name: string): string => env[name] || env[name.toUpperCase()] || "";
  const scheme = url.protocol.slice(0, -1);
  const proxy = value(`${scheme}_proxy`) || value("all_proxy");
  if (proxy === "" || isExempt(url, value("no_proxy"))) return undefined;
  /*
   * Without a scheme, the proxy is an http proxy, as in curl. Requests to https URLs stay encrypted, because they use a
   * tunnel.
   */
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** `NO_PROXY` is a list of `*`, `host`, `.suffix` or `*.suffix`, each with an optional port. */
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
