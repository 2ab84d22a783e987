/** The channels of HTTP clients: one for each session of the legacy era, one for each request of the modern era. */

import type { ServerResponse } from "node:http";
import { WireError } from "../errors.ts";
import type { Channel, ChannelEvents, OpenChannel, RequestId, RpcMessage } from "../rpc/channel.ts";
import { modernStatus } from "./message-errors.ts";
import { beginEvents, type PostAnswer, writeEvent } from "./post-answer.ts";

/** A client's session, which its POSTs and its GET stream belong to. */
export interface HttpSession {
  readonly open: OpenChannel;
  /** Passes a message on; `answer` is given for a request. */
  take(message: RpcMessage, size: number, answer?: PostAnswer): void;
  /** Sends messages that belong to no request to this response. Returns false if another stream is open. */
  listen(response: ServerResponse, headers: Readonly<Record<string, string>>): boolean;
  /** Whether no request and no stream is open. */
  isIdle(): boolean;
  end(): void;
}

/** Messages that wait for the client to open its GET stream; older ones are dropped. */
const waitingMessages = 100;

/** @param onEnd Called once, when the session has ended from either side. */
export function createHttpSession(onEnd: () => void): HttpSession {
  const answers = new Map<RequestId, PostAnswer>();
  const early: { readonly message: RpcMessage; readonly size: number }[] = [];
  const waiting: RpcMessage[] = [];
  let events: ChannelEvents | undefined;
  let stream: ServerResponse | undefined;
  let isOver = false;

  function end(): void {
    if (isOver) return;
    isOver = true;
    for (const answer of answers.values()) answer.end();
    answers.clear();
    stream?.end();
    onEnd();
    events?.closed(undefined);
  }

  function send(message: RpcMessage, about: RequestId | undefined): void {
    const id = message["id"] as RequestId;
    if (message["method"] === undefined) {
      answers.get(id)?.finish(message);
      answers.delete(id);
      return;
    }
    const answer = about === undefined ? undefined : answers.get(about);
    if (answer !== undefined) answer.send(message);
    else if (stream !== undefined) writeEvent(stream, message);
    else if (waiting.push(message) > waitingMessages) waiting.shift();
  }

  const channel: Channel = {
    cancelBy: "message",
    async send(message, { about } = {}) {
      if (isOver) throw new WireError("closed", "the client has ended its session", { unsent: true });
      send(message, about);
    },
    setProtocolVersion() {
      // The client sends the version with each request.
    },
    async close() {
      end();
    },
  };

  return {
    async open(given) {
      events = given;
      for (const { message, size } of early.splice(0)) given.message(message, size);
      return channel;
    },
    take(message, size, answer) {
      if (answer !== undefined) answers.set(message["id"] as RequestId, answer);
      if (events === undefined) early.push({ message, size });
      else events.message(message, size);
    },
    listen(response, headers) {
      if (stream !== undefined) return false;
      stream = response;
      response.on("close", () => {
        if (stream === response) stream = undefined;
      });
      beginEvents(response, headers);
      for (const message of waiting.splice(0)) writeEvent(response, message);
      return true;
    },
    isIdle: () => answers.size === 0 && stream === undefined,
    end,
  };
}

/** One request of the modern era. Its channel ends with the response, or when the client closes the connection. */
export interface HttpRequest {
  readonly open: OpenChannel;
  abandon(): void;
}

/** @param headers Headers that repeat arguments of the request. */
export function createHttpRequest(
  message: RpcMessage,
  size: number,
  answer: PostAnswer,
  headers?: Readonly<Record<string, string>>,
): HttpRequest {
  let events: ChannelEvents | undefined;
  let isOver = false;

  function end(): void {
    if (isOver) return;
    isOver = true;
    answer.end();
    events?.closed(undefined);
  }

  return {
    async open(given) {
      events = given;
      // Not before the caller has the channel, because a handler may answer at once.
      queueMicrotask(() => given.message(message, size, headers));
      return {
        cancelBy: "stream",
        async send(sent) {
          if (isOver) throw new WireError("closed", "the client has closed the connection", { unsent: true });
          if (sent["method"] !== undefined) return answer.send(sent);
          answer.finish(sent, modernStatus(sent));
          end();
        },
        setProtocolVersion() {
          // The client sends the version with each request.
        },
        async close() {
          end();
        },
      };
    },
    abandon: end,
  };
}
