/** The channels of HTTP clients: one for each legacy session, and one for each modern request. */

import type { ServerResponse } from "node:http";
import { WireError } from "../errors.ts";
import type { Channel, ChannelEvents, OpenChannel, RequestId, RpcMessage } from "../rpc/channel.ts";
import { member, objectOf } from "../shapes/json.ts";
import { toClientId, toOwnId } from "./http-sessions.ts";
import { errorResponse, messageErrors, modernStatus } from "./message-errors.ts";
import { beginEvents, type PostAnswer, sendEvent, writeComment } from "./post-answer.ts";
import type { UnreadResponses } from "./unread-responses.ts";

/** The headers of a request that concern its message. */
type MessageHeaders = Readonly<Record<string, string>>;

/** One client's session: its POST requests, and its GET stream. */
export interface HttpSession {
  readonly open: OpenChannel;
  /** Whether a request with this id is open. */
  has(id: RequestId): boolean;
  /**
   * Delivers a client's message. `answer` is for the response to a request. Returns false if too many messages wait.
   */
  take(message: RpcMessage, size: number, answer?: PostAnswer, headers?: MessageHeaders): boolean;
  /**
   * Sends messages that belong to no request on this HTTP response. Returns false if there is already such a stream.
   */
  listen(response: ServerResponse, headers: Readonly<Record<string, string>>): boolean;
  /** Writes a comment to every open stream. */
  keepAlive(): void;
  /** Ends the stream of `listen`. The client opens it again, perhaps at another process. */
  endStream(): void;
  /** Whether no request and no stream is open. */
  isIdle(): boolean;
  readonly end: () => void;
}

const sessionEnded = "the session has ended before the response; the request may have run";

/** Maximum number of messages that wait for the client's GET stream, and of messages that wait for `open`. */
const waitingMessages = 100;

/**
 * Creates a session without requests.
 * @param onEnd Called once, when the client or the server has ended the session.
 * @param process The name of this process, if several share the session.
 */
export function createHttpSession(unread: UnreadResponses, onEnd: () => void, process?: string): HttpSession {
  const answers = new Map<RequestId, PostAnswer>();
  const early: { readonly message: RpcMessage; readonly size: number; readonly headers: MessageHeaders | undefined }[] =
    [];
  const waiting: RpcMessage[] = [];
  let events: ChannelEvents | undefined;
  let stream: ServerResponse | undefined;
  let isOver = false;

  function end(): void {
    if (isOver) return;
    isOver = true;
    early.length = 0;
    // 503, because the request cannot be answered any more: it may have run.
    for (const [id, answer] of answers)
      answer.finish(errorResponse(id, messageErrors.unknownSession, sessionEnded), 503);
    answers.clear();
    stream?.end();
    onEnd();
    events?.closed(undefined);
  }

  function send(message: RpcMessage, about: RequestId | undefined): void {
    const id = message["id"] as RequestId;
    if (message["method"] === undefined) {
      // If the request's connection is lost, its response is lost too.
      answers.get(id)?.finish(message);
      answers.delete(id);
      return;
    }
    const answer = about === undefined ? undefined : answers.get(about);
    if (answer?.isConnected) answer.send(message);
    else if (stream !== undefined) sendEvent(stream, message, unread);
    else if (waiting.push(message) > waitingMessages) waiting.shift();
  }

  /** A cancelled request gets no JSON-RPC response, so its HTTP response ends here. */
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
      send(process === undefined ? message : asSeenByClient(message, process), about);
    },
    setProtocolVersion() {
      // Nothing to do: HTTP responses do not contain the protocol version.
    },
    drained: () => unread.drained(),
    async close() {
      end();
    },
  };

  return {
    async open(given) {
      events = given;
      for (const { message, size, headers } of early.splice(0)) {
        given.message(message, size, undefined, headers);
        endCancelled(message);
      }
      // The session may have ended before the server opened it.
      if (isOver) given.closed(undefined);
      return channel;
    },
    has: (id) => answers.has(id),
    take(message, size, answer, headers) {
      if (events === undefined && early.length >= waitingMessages) return false;
      if (answer !== undefined) answers.set(message["id"] as RequestId, answer);
      if (events === undefined) {
        early.push({ message, size, headers });
        return true;
      }
      events.message(process === undefined ? message : asSent(message, process), size, undefined, headers);
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
      unread.add(response);
      for (const message of waiting.splice(0)) sendEvent(response, message, unread);
      return true;
    },
    keepAlive() {
      for (const answer of answers.values()) answer.keepAlive();
      if (stream !== undefined) writeComment(stream);
    },
    endStream() {
      stream?.end();
    },
    isIdle: () => answers.size === 0 && stream === undefined,
    end,
  };
}

/** Replaces the ids of this process's own requests by those that are unique among all processes. */
function asSeenByClient(message: RpcMessage, process: string): RpcMessage {
  const { method, id, params } = message;
  if (method === undefined) return message;
  if (id !== undefined) return { ...message, id: toClientId(process, id) };
  if (method !== "notifications/cancelled") return message;
  return { ...message, params: { ...objectOf(params), requestId: toClientId(process, member(params, "requestId")) } };
}

/** Puts back the id of this process's own request into the client's answer. */
function asSent(message: RpcMessage, process: string): RpcMessage {
  if (message["method"] !== undefined) return message;
  return { ...message, id: toOwnId(process, message["id"]) ?? message["id"] };
}

/**
 * The channel of one modern request. The channel closes after the response, or when the client closes the connection.
 */
export interface HttpRequest {
  readonly open: OpenChannel;
  readonly abandon: () => void;
}

/**
 * Creates the channel of one modern request.
 * @param headers The headers that concern the message.
 */
export function createHttpRequest(
  message: RpcMessage,
  size: number,
  answer: PostAnswer,
  headers?: MessageHeaders,
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
      // The client may have disconnected before.
      if (isOver) given.closed(undefined);
      // A handler may answer at once, so the message is delivered only after `open` has returned the channel.
      queueMicrotask(() => {
        if (!isOver) given.message(message, size, undefined, headers);
      });
      return {
        cancelBy: "stream",
        async send(sent) {
          if (isOver) throw new WireError("closed", "the client has closed the connection", { unsent: true });
          if (sent["method"] !== undefined) return answer.send(sent);
          answer.finish(sent, modernStatus(sent));
          end();
        },
        setProtocolVersion() {
          // Nothing to do: each request of the client contains the protocol version.
        },
        drained: () => answer.drained(),
        async close() {
          end();
        },
      };
    },
    abandon: end,
  };
}
