/** The channels of HTTP clients: one for each legacy session, and one for each modern request. */

import type { ServerResponse } from "node:http";
import { WireError } from "../errors.ts";
import type { Channel, ChannelEvents, OpenChannel, RequestId, RpcMessage } from "../rpc/channel.ts";
import { member } from "../shapes/json.ts";
import { modernStatus } from "./message-errors.ts";
import { beginEvents, type PostAnswer, writeComment, writeEvent } from "./post-answer.ts";

/** A client's session, to which its POST requests and its GET stream belong. */
export interface HttpSession {
  readonly open: OpenChannel;
  /** Whether a request with this id is open. */
  has(id: RequestId): boolean;
  /**
   * Delivers a message. `answer` is set if the message is a request. Returns false if too many messages are waiting.
   */
  take(message: RpcMessage, size: number, answer?: PostAnswer): boolean;
  /**
   * Uses this HTTP response as the stream for messages that belong to no request. Returns false if another such stream
   * is open.
   */
  listen(response: ServerResponse, headers: Readonly<Record<string, string>>): boolean;
  /** Writes a comment to every open stream. */
  keepAlive(): void;
  /** Whether no request and no stream is open. */
  isIdle(): boolean;
  readonly end: () => void;
}

/**
 * Maximum number of waiting messages in each direction: to a client without a GET stream, and to a server that is not
 * ready.
 */
const waitingMessages = 100;

/**
 * Creates a session.
 * @param onEnd Called once, when the client or the server has ended the session.
 */
export function createHttpSession(unsentBytes: number, onEnd: () => void): HttpSession {
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
      // If the connection of the request is lost, its answer is lost too.
      answers.get(id)?.finish(message);
      answers.delete(id);
      return;
    }
    const answer = about === undefined ? undefined : answers.get(about);
    if (answer?.isConnected) answer.send(message);
    else if (stream !== undefined) writeEvent(stream, message, unsentBytes);
    else if (waiting.push(message) > waitingMessages) waiting.shift();
  }

  /** Ends the HTTP response to a cancelled request, because a cancelled request gets no JSON-RPC response. */
  function endCancelled(message: RpcMessage): void {
    if (message["method"] !== "notifications/cancelled") return;
    const id = member(message["params"], "requestId") as RequestId;
    answers.get(id)?.end(202);
    answers.delete(id);
  }

  const channel: Channel = {
    cancelBy: "message",
    async send(message, { about } = {}) {
      if (isOver) throw new WireError("closed", "the client has ended its session", { unsent: true });
      send(message, about);
    },
    setProtocolVersion() {
      // Each request of the client contains the protocol version, so the version need not be stored.
    },
    async close() {
      end();
    },
  };

  return {
    async open(given) {
      events = given;
      for (const { message, size } of early.splice(0)) {
        given.message(message, size);
        endCancelled(message);
      }
      return channel;
    },
    has: (id) => answers.has(id),
    take(message, size, answer) {
      if (events === undefined && early.length >= waitingMessages) return false;
      if (answer !== undefined) answers.set(message["id"] as RequestId, answer);
      if (events === undefined) {
        early.push({ message, size });
        return true;
      }
      events.message(message, size);
      endCancelled(message);
      return true;
    },
    listen(response, headers) {
      if (stream !== undefined) return false;
      stream = response;
      response.on("close", () => {
        if (stream === response) stream = undefined;
      });
      beginEvents(response, headers);
      for (const message of waiting.splice(0)) writeEvent(response, message, unsentBytes);
      return true;
    },
    keepAlive() {
      for (const answer of answers.values()) answer.keepAlive();
      if (stream !== undefined) writeComment(stream);
    },
    isIdle: () => answers.size === 0 && stream === undefined,
    end,
  };
}

/**
 * The channel of one modern request. The channel closes after the response, or when the client closes the connection.
 */
export interface HttpRequest {
  readonly open: OpenChannel;
  readonly abandon: () => void;
}

/**
 * Creates the channel.
 * @param headers Headers that repeat arguments of the request.
 */
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
      // The message is delivered after `open` has returned the channel, because a handler may answer at once.
      queueMicrotask(() => given.message(message, size, undefined, headers));
      // The client may have disconnected before its request was delivered.
      if (isOver) queueMicrotask(() => given.closed(undefined));
      return {
        cancelBy: "stream",
        async send(sent) {
          if (isOver) throw new WireError("closed", "the client has closed the connection", { unsent: true });
          if (sent["method"] !== undefined) return answer.send(sent);
          answer.finish(sent, modernStatus(sent));
          end();
        },
        setProtocolVersion() {
          // Each request of the client contains the protocol version, so the version need not be stored.
        },
        async close() {
          end();
        },
      };
    },
    abandon: end,
  };
}
