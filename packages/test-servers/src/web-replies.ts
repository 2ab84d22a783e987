/** Replies of HTTP servers for tests: correct ones, and faults that real servers have. */

import type { ServerResponse } from "node:http";
import type { WebReply, WebRequest } from "./web-server.ts";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly arguments?: { readonly text?: string } };
}

/** Serves one tool, `echo`, without sessions and events. */
export const behaves: WebReply = (request, response) => {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const message = messageIn(request);
  if (message.id === undefined) return void response.writeHead(202).end();
  sendJson(response, answerTo(message));
};

export const loginPage: WebReply = (_request, response) => {
  const page = "<!doctype html>\n<html><head><title>Sign in</title></head><body>\u001b[2JPlease sign in.</body></html>";
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
};

export const noContent: WebReply = (_request, response) => void response.writeHead(204).end();

export const empty: WebReply = (_request, response) => void response.writeHead(200, { "content-length": "0" }).end();

/** Sends the header of a JSON response, but no body. */
export const emptyJson: WebReply = (_request, response) =>
  void response.writeHead(200, { "content-type": "application/json" }).end();

/** Sends this status with a text and these headers. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): WebReply {
  return (_request, response) =>
    void response.writeHead(code, { "content-type": "text/plain", ...headers }).end(`status ${code}, sorry`);
}

export function redirectTo(url: string): WebReply {
  return (_request, response) => void response.writeHead(307, { location: url }).end();
}

/** Sends the right answer with the wrong content type. */
export const wrongContentType: WebReply = (request, response) => {
  response.writeHead(200, { "content-type": "text/plain" }).end(answerTo(messageIn(request)));
};

/** Sends invalid JSON with the content type JSON. */
export const brokenJson: WebReply = (_request, response) => sendJson(response, '{"jsonrpc":"2.0",');

/** Breaks the connection in the middle of the answer to this method. All other answers are correct. */
export function cutAt(method: string): WebReply {
  return (request, response) => {
    if (request.method !== "POST" || messageIn(request).method !== method) return behaves(request, response);
    const answer = answerTo(messageIn(request));
    response.writeHead(200, { "content-type": "application/json", "content-length": String(answer.length) });
    response.write(answer.slice(0, answer.length / 2), () => response.destroy());
  };
}

function messageIn({ body }: WebRequest): Message {
  return JSON.parse(body) as Message;
}

function answerTo({ id, method = "", params }: Message): string {
  const results = new Map<string, object>([
    [
      "initialize",
      {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "test", version: "1.0.0" },
      },
    ],
    ["tools/list", { tools: [{ name: "echo", inputSchema: { type: "object" } }] }],
    ["tools/call", { content: [{ type: "text", text: params?.arguments?.text ?? "" }] }],
  ]);
  const result = results.get(method);
  const body = result ? { result } : { error: { code: -32601, message: `no ${method} here` } };
  return JSON.stringify({ jsonrpc: "2.0", id, ...body });
}

function sendJson(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "application/json" }).end(body);
}
