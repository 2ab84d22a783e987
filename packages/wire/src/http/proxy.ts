/**
 * Sends HTTP requests directly or through a proxy. An https request uses a tunnel, an http request sends its full URL.
 */

import { setMaxListeners } from "node:events";
import type { Agent, ClientRequest, RequestOptions } from "node:http";
import { WireError } from "../errors.ts";
import { parseUrl } from "../shapes/text.ts";
import type { ConnectOptions } from "../target.ts";

/** Sends requests to one server, directly or through a proxy. */
export interface Route {
  readonly proxied: boolean;
  request(url: URL, options: RequestOptions): ClientRequest;
  close(): void;
}

/**
 * How connections are kept for the next request. Node closes an idle connection one second before the time that the
 * server announces (`Keep-Alive: timeout=5`), but only if the agent has a timeout of its own. Without that, the server
 * could close the connection just when the client sends the next call on it.
 */
const kept = { keepAlive: true, timeout: 600_000 };

/**
 * Finds out whether a URL needs a proxy, and returns the route to it.
 *
 * @throws WireError `proxy` if the proxy's URL is invalid.
 */
export async function openRoute(url: URL, options: Pick<ConnectOptions, "proxyFor" | "ca">): Promise<Route> {
  const given = options.proxyFor === undefined ? proxyFor(url, process.env) : options.proxyFor(url.href);
  const proxy = given === undefined ? undefined : webAddress(given);
  if (given !== undefined && proxy === undefined)
    throw new WireError("proxy", "the proxy's URL is not an http or https URL", { unsent: true });
  const secure = url.protocol === "https:";
  if (proxy !== undefined && !secure) return plainProxy(proxy);
  const http = secure ? await import("node:https") : await import("node:http");
  const tls = options.ca === undefined ? {} : { ca: await withDefaultAuthorities(options.ca) };
  const life = new AbortController();
  const agent = proxy === undefined ? new http.Agent({ ...kept, ...tls }) : await tunnel(proxy, tls, life.signal);
  const { urlToHttpOptions } = process.getBuiltinModule("node:url");
  // The parsed URL is cached: it rarely changes, and parsing takes as long as building the headers.
  let address = { href: "", options: {} };
  return {
    proxied: proxy !== undefined,
    request(to, request) {
      if (address.href !== to.href) address = { href: to.href, options: { ...urlToHttpOptions(to), ...tls, agent } };
      // `Object.assign` is faster than two spreads here.
      return http.request(Object.assign({}, address.options, request));
    },
    close() {
      agent.destroy();
      life.abort();
    },
  };
}

/** `agent.destroy` does not end connections that still wait for the proxy. The signal ends them. */
async function tunnel(proxy: URL, tls: { readonly ca?: string[] }, signal: AbortSignal): Promise<Agent> {
  setMaxListeners(0, signal);
  const { HttpsProxyAgent } = await import("https-proxy-agent");
  return new HttpsProxyAgent(proxy, { ...kept, ...tls, signal });
}

async function plainProxy(proxy: URL): Promise<Route> {
  const http = proxy.protocol === "https:" ? await import("node:https") : await import("node:http");
  const agent = new http.Agent(kept);
  const credentials = proxy.username === "" ? {} : { "proxy-authorization": basic(proxy) };
  return {
    proxied: true,
    request: (to, { headers, ...request }) =>
      http.request({
        ...request,
        agent,
        hostname: proxy.hostname.replace(/^\[|\]$/g, ""),
        port: proxy.port,
        path: to.href,
        headers: { ...(headers as Record<string, string>), host: to.host, ...credentials },
      }),
    close: () => agent.destroy(),
  };
}

function basic({ username, password }: URL): string {
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

/** The option `ca` would replace Node's certificate authorities, so they are added here. */
async function withDefaultAuthorities(ca: string): Promise<string[]> {
  const { rootCertificates } = await import("node:tls");
  return [...rootCertificates, ca];
}

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

/**
 * Returns undefined for an invalid URL, or one that is not http(s). Do not print such a URL: it may contain a password.
 */
export function webAddress(text: string): URL | undefined {
  const url = parseUrl(text);
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}
