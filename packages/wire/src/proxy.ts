/** How requests leave: directly, through a tunnel (https) or with the whole URL in the request line (http); certificates as asked. */

import type { Agent, ClientRequest, RequestOptions } from "node:http";

export interface Route {
  readonly proxied: boolean;
  request(url: URL, options: RequestOptions): ClientRequest;
  close(): void;
}

interface RouteOptions {
  readonly proxyFor?: ((url: string) => string | undefined) | undefined;
  readonly ca?: string | undefined;
}

export async function openRoute(url: URL, options: RouteOptions): Promise<Route> {
  const proxyFor = options.proxyFor ?? (await proxyFromEnvironment());
  const proxy = proxyFor(url.href);
  const secure = url.protocol === "https:";
  if (proxy !== undefined && !secure) return plainProxy(new URL(proxy));
  const http = secure ? await import("node:https") : await import("node:http");
  const tls = options.ca === undefined ? {} : { ca: await withDefaultAuthorities(options.ca) };
  const agent = proxy === undefined ? new http.Agent({ keepAlive: true, ...tls }) : await tunnel(proxy, tls);
  return {
    proxied: proxy !== undefined,
    request: (to, request) => http.request(to, { ...request, ...tls, agent }),
    close: () => agent.destroy(),
  };
}

async function tunnel(proxy: string, tls: { readonly ca?: string[] }): Promise<Agent> {
  const { HttpsProxyAgent } = await import("https-proxy-agent");
  return new HttpsProxyAgent(proxy, { keepAlive: true, ...tls });
}

async function plainProxy(proxy: URL): Promise<Route> {
  const http = proxy.protocol === "https:" ? await import("node:https") : await import("node:http");
  const agent = new http.Agent({ keepAlive: true });
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

/** Replacing `ca` drops the built-in authorities; extra ones are meant in addition. */
async function withDefaultAuthorities(ca: string): Promise<string[]> {
  const { rootCertificates } = await import("node:tls");
  return [...rootCertificates, ca];
}

async function proxyFromEnvironment(): Promise<(url: string) => string | undefined> {
  const { getProxyForUrl } = await import("proxy-from-env");
  return (url) => getProxyForUrl(url) || undefined;
}
