/** Finds the proxy for an address in a given environment, by the rules that the wire applies to `process.env`. Pure. */

import type { Environment } from "../settings/read/paths.ts";

export function proxyFor(url: URL, env: Environment["env"]): string | undefined {
  const value = (name: string): string => env[name] || env[name.toUpperCase()] || "";
  const scheme = url.protocol.slice(0, -1);
  const proxy = value(`${scheme}_proxy`) || value("all_proxy");
  if (proxy === "" || isExempt(url, value("no_proxy"))) return undefined;
  return proxy.includes("://") ? proxy : `${scheme}://${proxy}`;
}

/** `*`, `host`, `.suffix` or `*.suffix`, each perhaps for one port only; separated by commas or spaces. */
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
