/**
 * The HTTP response to one POST request: JSON by default. It becomes an event stream if the client prefers one, or if
 * other messages or comments are sent before the JSON-RPC response.
 */

import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { RpcMessage } from "../rpc/channel.ts";
import type { UnreadResponses } from "./unread-responses.ts";

/** How to answer one POST request. `headers` are added to the HTTP response. */
export interface PostAnswerOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Whether to send an event stream even if the JSON-RPC response is the only message. */
  readonly asEvents: boolean;
  readonly unread: UnreadResponses;
  /** Called once, when the request has ended and the client has the response, or has disconnected. */
  readonly onEnd: () => void;
  /** Called if the client closes the connection before it can have the whole response. */
  readonly onAbandoned?: () => void;
}

const eventHeaders = { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" } as const;

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

export function beginEvents(response: ServerResponse, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, { ...headers, ...eventHeaders });
  response.flushHeaders();
}

/** Sends a notification or a request of the server. Closes the stream if too many bytes wait for the client. */
export function sendEvent(response: ServerResponse, message: RpcMessage, unread: UnreadResponses): void {
  if (unread.isFull()) response.destroy();
  else if (!unread.drops(message)) writeEvent(response, message);
}

function writeEvent(response: ServerResponse, message: RpcMessage): void {
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
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
    const { onAbandoned, unread } = options;
    unread.add(response);
    if (onAbandoned !== undefined)
      response.on("close", () => {
        if (!response.writableFinished) onAbandoned();
      });
  }

  /** If the client reads too slowly, returns a promise that resolves when it has read more, or has disconnected. */
  drained(): Promise<void> | undefined {
    return this.#options.unread.drained();
  }

  /** True until the request has ended or the client has disconnected. */
  get isConnected(): boolean {
    return !this.#isOver && !this.#response.destroyed;
  }

  /** Sends a message before the JSON-RPC response. From then on, the response is an event stream. */
  send(message: RpcMessage): void {
    if (!this.isConnected) return;
    const { headers, unread } = this.#options;
    if (!this.#response.headersSent) beginEvents(this.#response, headers);
    sendEvent(this.#response, message, unread);
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
    const { headers, asEvents, unread } = this.#options;
    const given = unread.within(message);
    if (!response.headersSent && (!asEvents || status !== 200)) {
      answerJson(response, status, given, headers);
      return;
    }
    if (!response.headersSent) beginEvents(response, headers);
    writeEvent(response, given);
    response.end();
  }

  /** Ends the HTTP response without a JSON-RPC response. `status` has no effect once the event stream has begun. */
  end(status = 503): void {
    if (!this.#end()) return;
    if (this.#response.headersSent) this.#response.end();
    else answerEmpty(this.#response, status);
  }

  /** Ends the HTTP response like `end`, and the work on the request too. */
  abandon(): void {
    if (this.#isOver) return;
    this.end();
    this.#options.onAbandoned?.();
  }

  #callAtEnd(): void {
    let isEnded = false;
    const end = (): void => {
      if (isEnded) return;
      isEnded = true;
      this.#options.onEnd();
    };
    this.#response.once("finish", end).once("close", end);
  }

  /**
   * @returns Whether a response can still be sent. False if the request had ended, or if the client has disconnected.
   */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    const { destroyed } = this.#response;
    if (destroyed) this.#options.onEnd();
    else this.#callAtEnd();
    return !destroyed;
  }
}
