/** Single requests to a replica, as any program may send them. */

import type { JsonObject } from "@fairlead/wire";
import { isObject, objectOf, parseJson } from "@fairlead/wire/json";

const version = "2026-07-28";
const prefix = "io.modelcontextprotocol/";

export interface RawAnswer {
  readonly status: number;
  readonly session: string | undefined;
  /** The response to the request, with `result` or `error`. Empty if there is none. */
  readonly message: JsonObject;
}

const common = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Sends a modern request. */
export async function modern(...request: Parameters<typeof beginModern>): Promise<RawAnswer> {
  return read(await beginModern(...request), 1);
}

/** Sends a modern request. Resolves with the head of its response. */
export function beginModern(
  url: string,
  token: string,
  method: string,
  params: JsonObject = {},
  capabilities: JsonObject = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
): Promise<Response> {
  const _meta = { [`${prefix}protocolVersion`]: version, [`${prefix}clientCapabilities`]: capabilities };
  const named = params["name"] ?? params["uri"] ?? params["taskId"];
  const headers = {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof named === "string" && { "mcp-name": named }),
  };
  return send(url, token, { id: 1, method, params: { ...params, _meta } }, headers);
}

/** Sends a legacy message. */
export async function legacy(url: string, token: string, body: JsonObject, session?: string): Promise<RawAnswer> {
  return read(await send(url, token, body, session === undefined ? {} : { "mcp-session-id": session }), body["id"]);
}

/** Begins a legacy session and returns its id. */
export async function beginSession(url: string, token: string): Promise<string> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const { session } = await legacy(url, token, { id: 1, method: "initialize", params });
  return session ?? "";
}

function send(
  url: string,
  token: string,
  body: JsonObject,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { ...common, authorization: `Bearer ${token}`, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...body }),
  });
}

async function read(response: Response, id: unknown): Promise<RawAnswer> {
  const text = await response.text();
  const lines = text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
  const messages = (lines.length > 0 ? lines : [text]).map(parseJson).filter(isObject);
  return {
    status: response.status,
    session: response.headers.get("mcp-session-id") ?? undefined,
    message: objectOf(messages.find((each) => each["id"] === id) ?? messages.at(-1)),
  };
}
