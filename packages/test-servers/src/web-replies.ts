/** How servers on the web answer: as they should, and in the ways that are seen in the wild. */

import type { ServerResponse } from "node:http";
import type { WebReply, WebRequest } from "./web-server.ts";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly arguments?: { readonly text?: string } };
}

/** One tool, `echo`; no session, no events. */
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

/** JSON says its head, and then there is nothing. */
export const emptyJson: WebReply = (_request, response) =>
  void response.writeHead(200, { "content-type": "application/json" }).end();

/** Anything but 200, with a body for people and such headers. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): WebReply {
  return (_request, response) =>
    void response.writeHead(code, { "content-type": "text/plain", ...headers }).end(`status ${code}, sorry`);
}

export function redirectTo(url: string): WebReply {
  return (_request, response) => void response.writeHead(307, { location: url }).end();
}

/** The right answer under the wrong name. */
export const wrongContentType: WebReply = (request, response) => {
  response.writeHead(200, { "content-type": "text/plain" }).end(answerTo(messageIn(request)));
};

/** Says JSON, and is not. */
export const brokenJson: WebReply = (_request, response) => sendJson(response, '{"jsonrpc":"2.0",');

/** The connection goes in the middle of the answer to this method; everything else is as it should be. */
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
