/** MCP clients that show the messages as they are: what a server's `input_required` and errors look like. */

import type { JsonObject } from "@fairlead/wire";

/** Sends a request. Resolves with its result, and rejects with the JSON-RPC error. */
export interface RawClient {
  (method: string, params?: JsonObject): Promise<JsonObject>;
  /** Everything that the client has got. */
  readonly answers: readonly string[];
}

export class RpcFailure extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor({ code, message, data }: { readonly code: number; readonly message: string; readonly data?: unknown }) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

interface RawAnswer {
  readonly id?: unknown;
  readonly result?: JsonObject;
  readonly error?: ConstructorParameters<typeof RpcFailure>[0];
}

const prefix = "io.modelcontextprotocol/";

export function modernClient(url: string, token: string, capabilities: JsonObject): RawClient {
  const answers: string[] = [];
  const send = async (method: string, params: JsonObject = {}): Promise<JsonObject> => {
    const version = "2026-07-28";
    const _meta = {
      [`${prefix}protocolVersion`]: version,
      [`${prefix}clientCapabilities`]: capabilities,
      [`${prefix}clientInfo`]: { name: "raw", version: "1" },
    };
    const headers: Record<string, string> = { "mcp-protocol-version": version, "mcp-method": method };
    if (typeof params["name"] === "string") headers["mcp-name"] = params["name"];
    return post(url, token, headers, { id: 1, method, params: { ...params, _meta } }, answers).then(
      ({ result }) => result,
    );
  };
  return Object.assign(send, { answers });
}

export async function legacyClient(url: string, token: string, capabilities: JsonObject): Promise<RawClient> {
  const answers: string[] = [];
  const protocolVersion = "2025-11-25";
  const params = { protocolVersion, capabilities, clientInfo: { name: "raw", version: "1" } };
  const { session } = await post(url, token, {}, { id: 0, method: "initialize", params }, answers);
  const headers = { "mcp-session-id": session ?? "", "mcp-protocol-version": protocolVersion };
  await post(url, token, headers, { method: "notifications/initialized" }, answers);
  const send = async (method: string, given: JsonObject = {}): Promise<JsonObject> =>
    post(url, token, headers, { id: 1, method, params: given }, answers).then(({ result }) => result);
  return Object.assign(send, { answers });
}

async function post(
  url: string,
  token: string,
  headers: Readonly<Record<string, string>>,
  message: JsonObject,
  answers: string[],
): Promise<{ readonly result: JsonObject; readonly session: string | undefined }> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  const text = await response.text();
  answers.push(JSON.stringify([...response.headers]), text);
  const session = response.headers.get("mcp-session-id") ?? undefined;
  if (text === "") return { result: {}, session };
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const lines = isStream ? text.split("\n").filter((line) => line.startsWith("data:")) : [`data:${text}`];
  for (const line of lines) {
    if (line.slice(5).trim() === "") continue;
    const { id, result, error } = JSON.parse(line.slice(5)) as RawAnswer;
    if (error !== undefined) throw new RpcFailure(error);
    if (id !== undefined && result !== undefined) return { result, session };
  }
  throw new Error(`no answer: ${response.status} ${text}`);
}
