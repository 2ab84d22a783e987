/** Plain HTTP requests to a listener, as a client of any kind may send them. */

import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { isObject } from "../../src/shapes/json.ts";

export interface Post {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly method?: string;
}

export interface Posted {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** A request that is under way. */
export interface SentPost {
  readonly outgoing: ClientRequest;
  /** Resolves with the head of the response. */
  readonly response: Promise<IncomingMessage>;
  /** Resolves when the response has ended, also if it was cut. */
  readonly ended: Promise<Posted>;
}

/** Sends a request, with its body at once if there is one; otherwise the caller writes and ends it. */
export function begin(url: string, { headers = {}, body, method = "POST" }: Post): SentPost {
  const all = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
  const outgoing = request(url, { method, headers: all, agent: false });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on("response", resolve).on("error", reject);
  });
  const ended = response.then(
    (head) =>
      new Promise<Posted>((resolve) => {
        let text = "";
        head.on("data", (chunk: Buffer) => {
          text += String(chunk);
        });
        head.on("error", () => {});
        head.on("close", () => resolve({ status: head.statusCode, headers: head.headers, text }));
      }),
  );
  ended.catch(() => {});
  if (method !== "POST") outgoing.end();
  else if (body !== undefined) outgoing.end(JSON.stringify(body));
  return { outgoing, response, ended };
}

export function post(url: string, how: Post): Promise<Posted> {
  return begin(url, how).ended;
}

/** The JSON of a response, or the data of its events. */
export function messagesIn({ headers, text }: Posted): unknown[] {
  if (headers["content-type"] !== "text/event-stream") return [JSON.parse(text)];
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line): unknown => JSON.parse(line.slice("data: ".length)))
    .filter(isObject);
}

export const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: {} };

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A request of the modern era with its headers. */
export function modern(method: string, params: Readonly<Record<string, unknown>> = {}): Post {
  return {
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof params["name"] === "string" && { "mcp-name": params["name"] }),
    },
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } },
  };
}
