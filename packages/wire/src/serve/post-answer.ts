/**
 * The HTTP response to one POST: plain JSON, or an event stream if other messages come before the response or the client
 * prefers one.
 */

import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { RpcMessage } from "../rpc/channel.ts";

/** Answers one POST. */
export interface PostAnswer {
  /** Sends a message that belongs to the request; from then on the response is an event stream. */
  send(message: RpcMessage): void;
  /** Sends the response and ends. The status counts only if no other message was sent before. */
  finish(message: RpcMessage, status?: number): void;
  /** Ends without a response; the status is 503 if nothing was sent. */
  end(): void;
}

const eventHeaders = { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" } as const;

/** Writes JSON and ends the response. */
export function answerJson(
  response: ServerResponse,
  status: number,
  message: RpcMessage,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = Buffer.from(JSON.stringify(message));
  response.writeHead(status, { ...headers, "content-type": "application/json", "content-length": body.length });
  response.end(body);
}

/** Begins an event stream. */
export function beginEvents(response: ServerResponse, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { ...headers, ...eventHeaders });
  response.flushHeaders();
}

/** Writes one message as an event. */
export function writeEvent(response: ServerResponse, message: RpcMessage): void {
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

/** Whether a client names event streams before JSON, or alone. */
export function prefersEvents({ accept = "" }: IncomingHttpHeaders): boolean {
  const types = accept.toLowerCase();
  const json = types.search(/application\/(?:json|\*)|\*\/\*/);
  const events = types.indexOf("text/event-stream");
  return events >= 0 && (json < 0 || events < json);
}

/** How a POST is answered. */
export interface PostAnswerOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** A successful response without other messages is an event stream too. */
  readonly asEvents: boolean;
  /** Called if the client closes the connection before the response is complete. */
  readonly onAbandoned: () => void;
}

export function createPostAnswer(
  response: ServerResponse,
  { headers, asEvents, onAbandoned }: PostAnswerOptions,
): PostAnswer {
  response.on("close", () => {
    if (!response.writableEnded) onAbandoned();
  });
  return {
    send(message) {
      if (response.writableEnded) return;
      if (!response.headersSent) beginEvents(response, headers);
      writeEvent(response, message);
    },
    finish(message, status = 200) {
      if (response.writableEnded) return;
      if (!response.headersSent) {
        if (!asEvents || status !== 200) return answerJson(response, status, message, headers);
        beginEvents(response, headers);
      }
      writeEvent(response, message);
      response.end();
    },
    end() {
      if (response.writableEnded) return;
      if (!response.headersSent) response.writeHead(503, { "content-length": 0 });
      response.end();
    },
  };
}
