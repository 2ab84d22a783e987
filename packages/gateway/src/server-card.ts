/** The server card of the gateway (SEP-2127): where it is and which protocols it speaks. It names no tools. */

import { type HttpPage, type HttpRefusal, legacyVersions, modernVersions } from "@fairlead/wire/serve";

/** What a page with a card needs of the gateway. */
export interface ServerCardOptions {
  readonly version: string;
  /** The origin under which the gateway is reached, by the header `Host` of the request. */
  readonly originOf: (host: string | undefined) => string;
  /** Why a request may not read the card of this path. Undefined: it may. */
  readonly refusal: (entry: {
    readonly path: string;
    readonly server: string;
    readonly headers: Parameters<HttpPage["take"]>[0]["headers"];
    readonly remoteAddress: string | undefined;
  }) => Promise<HttpRefusal | undefined>;
}

const suffix = "/server-card";

/** The page of a path such as `/mcp/server-card` or `/mcp/NAME/server-card`. Undefined for other paths. */
export function serverCardPage(
  path: string,
  serverIn: (path: string) => string | undefined,
  { version, originOf, refusal }: ServerCardOptions,
): HttpPage | undefined {
  if (!path.endsWith(suffix)) return undefined;
  const endpoint = path.slice(0, -suffix.length);
  const server = serverIn(endpoint);
  if (server === undefined) return undefined;
  return {
    async take(request, response) {
      if (request.method !== "GET" && request.method !== "HEAD") {
        response.writeHead(405, { allow: "GET, HEAD" }).end();
        return;
      }
      const { headers, socket } = request;
      const refused = await refusal({ path: endpoint, server, headers, remoteAddress: socket.remoteAddress });
      if (refused !== undefined) {
        response.writeHead(refused.status, { ...refused.headers, "content-type": "text/plain; charset=utf-8" });
        response.end(refused.message ?? "");
        return;
      }
      const card = JSON.stringify(cardOf(server, `${originOf(headers.host)}${endpoint}`, version));
      response.writeHead(200, {
        "content-type": "application/mcp-server-card+json",
        "cache-control": "private, max-age=60",
        "x-content-type-options": "nosniff",
      });
      response.end(request.method === "HEAD" ? undefined : card);
    },
  };
}

function cardOf(server: string, url: string, version: string): object {
  const isAll = server === "";
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    name: isAll ? "io.github.fairlead/fairlead" : `local.fairlead/${server.replaceAll(/[^\w.-]/g, "_").slice(0, 100)}`,
    title: isAll ? "Fairlead" : server,
    version,
    description: isAll ? "All servers of this Fairlead" : "One server of this Fairlead",
    remotes: [{ type: "streamable-http", url, supportedProtocolVersions: [...modernVersions, ...legacyVersions] }],
  };
}
