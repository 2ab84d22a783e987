/** An MCP registry (API v0.1) on loopback, with the servers that a test gives it. */

import { createHash } from "node:crypto";
import { type WebReply, type WebServer, webServer } from "./web-server.ts";

/** `server.json`, as a registry publishes it. */
export interface PublishedServer {
  readonly name: string;
  readonly version: string;
  readonly [key: string]: unknown;
}

export interface PublishedItem {
  readonly server: PublishedServer;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** One item of a registry's list. `state`: what the registry says about it. */
export function published(server: PublishedServer, state: Readonly<Record<string, unknown>> = {}): PublishedItem {
  const own = { status: "active", publishedAt: "2026-01-02T03:04:05Z", isLatest: true, ...state };
  return { server, _meta: { "io.modelcontextprotocol.registry/official": own } };
}

export interface McpRegistryServer extends WebServer {
  /** The published items. A test may change them while the registry runs. */
  items: readonly PublishedItem[];
}

/** Starts the registry. `reply` answers a request before the registry does, if it returns true. */
export async function mcpRegistry(
  items: readonly PublishedItem[],
  {
    port,
    reply = () => false,
  }: { readonly port?: number; readonly reply?: (...args: Parameters<WebReply>) => boolean } = {},
): Promise<McpRegistryServer> {
  const state = { items };
  const server = await webServer(
    (request, response) => {
      if (reply(request, response)) return;
      const url = new URL(request.path, "http://registry");
      const body = answer(url, state.items);
      const text = JSON.stringify(body ?? { error: "Server not found" });
      const etag = `"${createHash("sha256").update(text).digest("hex").slice(0, 16)}"`;
      if (body !== undefined && request.headers["if-none-match"] === etag) {
        response.writeHead(304, { etag }).end();
        return;
      }
      response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json", etag }).end(text);
    },
    port === undefined ? {} : { port },
  );
  return Object.defineProperty(server, "items", {
    get: () => state.items,
    set(changed: readonly PublishedItem[]) {
      state.items = changed;
    },
  }) as McpRegistryServer;
}

function answer({ pathname, searchParams }: URL, items: readonly PublishedItem[]): unknown {
  if (pathname === "/v0.1/servers") return page(searchParams, items);
  const [, name = "", version] = /^\/v0\.1\/servers\/([^/]+)\/versions(?:\/([^/]+))?$/.exec(pathname) ?? [];
  const own = items.filter(({ server }) => server.name === decodeURIComponent(name));
  if (own.length === 0) return undefined;
  return version === undefined ? { servers: own } : own.find(({ server }) => server.version === version);
}

function page(query: URLSearchParams, items: readonly PublishedItem[]): unknown {
  const search = query.get("search")?.toLowerCase() ?? "";
  const found = items.filter(
    ({ server, _meta }) =>
      JSON.stringify([server.name, server["title"], server["description"]]).toLowerCase().includes(search) &&
      (query.get("version") !== "latest" || JSON.stringify(_meta ?? {}).includes('"isLatest":true')),
  );
  const from = Number(query.get("cursor")?.replace("after:", "") ?? 0);
  const to = from + Number(query.get("limit") ?? 30);
  const servers = found.slice(from, to);
  return { servers, metadata: { count: servers.length, ...(to < found.length && { nextCursor: `after:${to}` }) } };
}
