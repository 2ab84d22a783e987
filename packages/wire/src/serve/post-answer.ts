/**
 * The HTTP response to one POST request: JSON by default. It becomes an event stream if the client prefers one, or if
 * other messages or comments are sent before the JSON-RPC response.
 */

import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { RpcMessage } from "../rpc/channel.ts";

/** How to answer one POST request. `headers` are added to the HTTP response. */
export interface PostAnswerOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Whether to send an event stream even if the JSON-RPC response is the only message. */
  readonly asEvents: boolean;
  readonly unsentBytes: number;
  /** Called once, when the request has ended. */
  readonly onEnd: () => void;
  /** Called if the client closes the connection before the response is complete. */
  readonly onAbandoned?: () => void;
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

/** Sends a response without a body. */
export function answerEmpty(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...headers, "content-length": 0 }).end();
}

/** Starts an event stream. */
export function beginEvents(response: ServerResponse, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { ...headers, ...eventHeaders });
  response.flushHeaders();
}

/** Writes one message as an event. Closes the stream if more than `unsentBytes` wait for the client. */
export function writeEvent(response: ServerResponse, message: RpcMessage, unsentBytes: number): void {
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  if (response.writableLength > unsentBytes) response.destroy();
}

/** Writes a comment. Clients ignore it, but it keeps proxies from closing a silent stream. */
export function writeComment(response: ServerResponse): void {
  response.write(": waiting\n\n");
}

/** Whether the `Accept` header lists event streams before JSON, or lists only event streams. */
export function prefersEvents({ accept = "" }: IncomingHttpHeaders): boolean {
  const types = accept.toLowerCase();
  const json = types.search(/application\/(?:json|\*)|\*\/\*/);
  const events = types.indexOf("text/event-stream");
  return events >= 0 && (json < 0 || events < json);
}

/** Answers one POST request, as JSON or as an event stream. */
export class PostAnswer {
  readonly #response: ServerResponse;
  readonly #options: PostAnswerOptions;
  #isOver = false;
  #hasWaited = false;

  constructor(response: ServerResponse, options: PostAnswerOptions) {
    this.#response = response;
    this.#options = options;
    const { onAbandoned } = options;
    if (onAbandoned !== undefined)
      response.on("close", () => {
        if (!this.#isOver) onAbandoned();
      });
  }

  /** True until the request has ended or the client has disconnected. */
  get isConnected(): boolean {
    return !this.#isOver && !this.#response.destroyed;
  }

  /** Sends a message before the JSON-RPC response. From then on, the response is an event stream. */
  send(message: RpcMessage): void {
    if (!this.isConnected) return;
    const { headers, unsentBytes } = this.#options;
    if (!this.#response.headersSent) beginEvents(this.#response, headers);
    writeEvent(this.#response, message, unsentBytes);
  }

  /** Keeps the connection open. Called at intervals. Each call except the first writes a comment. */
  keepAlive(): void {
    if (!this.isConnected) return;
    // The first call may come right after the request. A comment would make the response a stream although it could be
    // JSON.
    if (!this.#hasWaited) {
      this.#hasWaited = true;
      return;
    }
    if (!this.#response.headersSent) beginEvents(this.#response, this.#options.headers);
    writeComment(this.#response);
  }

  /** Sends the JSON-RPC response and ends the HTTP response. `status` has no effect once the event stream has begun. */
  finish(message: RpcMessage, status = 200): void {
    if (!this.#end()) return;
    const response = this.#response;
    const { headers, asEvents, unsentBytes } = this.#options;
    if (!response.headersSent && (!asEvents || status !== 200)) {
      answerJson(response, status, message, headers);
      return;
    }
    if (!response.headersSent) beginEvents(response, headers);
    writeEvent(response, message, unsentBytes);
    response.end();
  }

  /** Ends the HTTP response without a JSON-RPC response. `status` has no effect once the event stream has begun. */
  end(status = 503): void {
    if (!this.#end()) return;
    if (this.#response.headersSent) this.#response.end();
    else answerEmpty(this.#response, status);
  }

  /**
   * @returns Whether a response can still be sent. False if the request had ended, or if the client has disconnected.
   */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#options.onEnd();
    return !this.#response.destroyed;
  }
}
