/** A web server that opens a session of the legacy era by itself; a test says what it does with everything else. */

import type { ServerResponse } from "node:http";
import { connect } from "../../src/connect.ts";
import type { JsonObject, Session } from "../../src/session.ts";
import type { ConnectOptions } from "../../src/target.ts";
import { clientInfo } from "./modern-session.ts";
import { sendJson, type WebServer, webServer } from "./web-server.ts";

const hello = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "web", version: "1" } };

export interface LegacyWeb {
  /** Requests and notifications after the handshake; by default they are answered, or accepted. */
  readonly onPost?: (message: JsonObject, response: ServerResponse) => void;
  readonly onGet?: (response: ServerResponse, lastEventId: string | undefined) => void;
  readonly onDelete?: (response: ServerResponse) => void;
  readonly onInitialized?: (response: ServerResponse) => void;
  readonly session?: string;
  readonly capabilities?: JsonObject;
}

export function legacyWeb(how: LegacyWeb): Promise<WebServer> {
  return webServer((request, response) => {
    if (request.method === "GET") {
      const lastEventId = request.headers["last-event-id"];
      if (how.onGet) return how.onGet(response, typeof lastEventId === "string" ? lastEventId : undefined);
      return void response.writeHead(405).end();
    }
    if (request.method === "DELETE") return how.onDelete ? how.onDelete(response) : void response.end();
    const message = JSON.parse(request.body) as JsonObject;
    if (message["method"] === "initialize")
      return answer(
        response,
        message,
        { ...hello, ...(how.capabilities && { capabilities: how.capabilities }) },
        how.session === undefined ? {} : { "mcp-session-id": how.session },
      );
    if (message["method"] === "notifications/initialized")
      return how.onInitialized ? how.onInitialized(response) : void response.writeHead(202).end();
    if (how.onPost) return how.onPost(message, response);
    if (message["id"] === undefined) response.writeHead(202).end();
    else answer(response, message, {});
  });
}

export function answer(
  response: ServerResponse,
  { id }: JsonObject,
  result: unknown,
  headers: Record<string, string> = {},
): void {
  sendJson(response, JSON.stringify({ jsonrpc: "2.0", id, result }), 200, headers);
}

export function openLegacy(server: WebServer, options: Partial<ConnectOptions> = {}): Promise<Session> {
  return connect(
    { kind: "http", url: `${server.url}/mcp`, headers: {} },
    {
      clientInfo,
      era: "legacy",
      proxyFor: () => undefined,
      ...options,
      times: { connect: 20_000, endGrace: 200, ...options.times },
    },
  );
}
