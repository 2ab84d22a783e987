/** A client that sends any message with any header, as the official suite does, and shows the whole answer. */

import type { JsonObject } from "@fairlead/wire";

export interface Sent {
  readonly method: string;
  /** Of a modern request `_meta` gets the envelope, unless it is given. */
  readonly params?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly era?: "legacy";
  readonly id?: number;
}

export interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly session: string | undefined;
  readonly messages: readonly RawMessage[];
  /** The response. */
  readonly last: RawMessage;
}

export interface RawMessage {
  readonly result?: JsonObject;
  readonly error?: JsonObject;
  readonly method?: string;
}

const prefix = "io.modelcontextprotocol/";

/** The `_meta` of a modern request. */
export function envelope(capabilities: object = {}): JsonObject {
  return { [`${prefix}protocolVersion`]: "2026-07-28", [`${prefix}clientCapabilities`]: capabilities };
}

export async function answerTo(url: string, { method, params = {}, headers = {}, era, id = 1 }: Sent): Promise<Answer> {
  const isModern = era === undefined;
  const sent: JsonObject = { ...(isModern && { _meta: envelope() }), ...params };
  const name = sent[method === "resources/read" ? "uri" : "name"];
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(isModern && { "mcp-protocol-version": "2026-07-28", "mcp-method": method }),
      ...(isModern && typeof name === "string" && { "mcp-name": name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params: sent }),
  });
  const messages = messagesIn(await response.text());
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    session: response.headers.get("mcp-session-id") ?? undefined,
    messages,
    last: messages.at(-1) ?? {},
  };
}

/** The messages of an event stream, or the one message of a JSON body. */
function messagesIn(text: string): readonly RawMessage[] {
  const lines = text.startsWith("{")
    ? [text]
    : text.split("\n").flatMap((line) => /^data: (.+)$/.exec(line)?.[1] ?? []);
  return lines.map((line) => JSON.parse(line) as RawMessage);
}
