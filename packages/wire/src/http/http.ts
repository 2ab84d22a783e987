/**
 * The streamable HTTP transport. Each message is a POST request, which the server answers with JSON or an event stream.
 */

import { WireError } from "../errors.ts";
import { signalOf } from "../rpc/abort.ts";
import type { Channel, ChannelEvents, ChannelSendOptions, OpenChannel, RequestId, RpcMessage } from "../rpc/channel.ts";
import type { LargeMessages } from "../rpc/large-messages.ts";
import { createReadBudget } from "../rpc/read-budget.ts";
import { requestIdOf } from "../rpc/rpc-messages.ts";
import type { TimeSource } from "../rpc/time.ts";
import type { RequestStop } from "../session.ts";
import type { HttpTarget, WireTimes } from "../target.ts";
import { createEventReader, type EventReader } from "./event-reader.ts";
import {
  headerOf,
  kindOf,
  messagesOf,
  readSizedJson,
  refusalOf,
  statusError,
  takeMessage,
  toBody,
} from "./http-answer.ts";
import {
  createHttpClient,
  discard,
  type HttpAnswer,
  type HttpClient,
  type HttpOptions,
  readStart,
} from "./http-client.ts";
import { keepListening } from "./http-listen.ts";

/** Since this protocol version, there are no session ids and no GET stream. Closing a stream cancels its request. */
const firstStateless = "2026-07-28";

/** Options of the HTTP transports. `time` is the clock, by default the system's. */
export interface HttpChannelOptions extends HttpOptions {
  readonly times: WireTimes;
  readonly time?: TimeSource | undefined;
  /** See `ConnectOptions`. */
  readonly largeMessages?: LargeMessages | undefined;
}

/** Returns the function that opens a streamable HTTP channel. The connection opens with the first message. */
export function openHttp(target: HttpTarget, options: HttpChannelOptions): OpenChannel {
  return async (events) => {
    const client = await createHttpClient(target, options);
    return createHttpChannel(new URL(target.url), client, events, options);
  };
}

type Stop = AbortSignal | RequestStop | undefined;

function createHttpChannel(
  given: URL,
  client: HttpClient,
  events: ChannelEvents,
  options: HttpChannelOptions,
): Channel {
  const { limits, times, time, largeMessages } = options;
  const closing = new AbortController();
  const budget = createReadBudget({ limits, times, time, largeMessages, onFlooding: end });
  /** The server's URL or, after a redirect, the URL that answered the handshake. */
  let url = given;
  let version: string | undefined;
  let sessionId: string | undefined;
  /** The error for all requests. Set when the server no longer knows the session id. */
  let sessionError: WireError | undefined;
  /** Number of sent messages that have no response yet. */
  let unanswered = 0;
  let endTimer: NodeJS.Timeout | undefined;
  let ended = false;

  const stateless = (): boolean => version !== undefined && version >= firstStateless;

  function end(cause: WireError | undefined): void {
    if (ended) return;
    ended = true;
    clearTimeout(endTimer);
    budget.stop();
    closing.abort();
    client.close();
    events.closed(cause);
  }

  function commonHeaders(): Record<string, string> {
    const headers: Record<string, string> = {};
    if (version !== undefined) headers["mcp-protocol-version"] = version;
    if (sessionId !== undefined) headers["mcp-session-id"] = sessionId;
    return headers;
  }

  /** Returns the error `session_expired` if the server no longer knows the session id. */
  function expired(answer: HttpAnswer): WireError | undefined {
    if (answer.status !== 404 || sessionId === undefined) return undefined;
    discard(answer.body);
    sessionError ??= new WireError("session_expired", "the session has expired: the server no longer knows its id", {
      httpStatus: 404,
    });
    endTimer ??= setTimeout(end, times.endGrace, sessionError);
    endIfAllAnswered();
    return sessionError;
  }

  /**
   * Closes the channel of an expired session, but only when no request is open. Each request needs its own 404
   * response, which shows that the server did not process it.
   */
  function endIfAllAnswered(): void {
    // `setImmediate`: the last response must reach its request before the channel closes.
    if (sessionError && unanswered === 0) setImmediate(end, sessionError);
  }

  async function get(lastEventId: string | undefined, signal: AbortSignal): Promise<HttpAnswer> {
    const headers: Record<string, string> = { accept: "text/event-stream", ...commonHeaders() };
    if (lastEventId !== undefined) headers["last-event-id"] = Buffer.from(lastEventId).toString("latin1");
    return client.request({ url, method: "GET", headers, stop: signal, repeatable: true });
  }

  async function post(message: RpcMessage, stop: Stop, headers: ChannelSendOptions["headers"]): Promise<HttpAnswer> {
    const isFirst = message["method"] === "initialize" || message["method"] === "server/discover";
    const always = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    const answer = await client.request({
      url: isFirst ? given : url,
      method: "POST",
      headers: Object.assign(always, commonHeaders(), headers),
      body: toBody(message),
      stop,
      repeatable: message["method"] !== "tools/call",
    });
    // Redirects of `tools/call` are not followed, so later requests go to the URL that answered the handshake.
    if (isFirst && answer.status === 200 && kindOf(answer) !== "other") url = answer.url;
    // Only the `initialize` response sets the session id. Some servers send a session id with a failed
    // `server/discover`.
    if (message["method"] === "initialize") sessionId = headerOf(answer, "mcp-session-id");
    return answer;
  }

  /** Sends a notification or a response. Such messages have no request timeout, so `times.send` limits the time. */
  async function postWithTimeout(
    message: RpcMessage,
    stop: Stop,
    headers: ChannelSendOptions["headers"],
  ): Promise<HttpAnswer> {
    const timedOut = AbortSignal.timeout(times.send);
    const until = AbortSignal.any([closing.signal, timedOut, stop ? signalOf(stop) : timedOut]);
    try {
      return await post(message, until, headers);
    } catch (error) {
      if (!timedOut.aborted) throw error;
      const words = `the server did not accept the message within ${times.send} ms`;
      throw new WireError("send_blocked", words, {}, { cause: error });
    }
  }

  /** Reads an HTTP response until the JSON-RPC response has been delivered. */
  async function readAnswer(answer: HttpAnswer, id: RequestId, stop: Stop, maxBytes: number): Promise<void> {
    const kind = kindOf(answer);
    if (kind === "events") return readStream(answer, id, stop, maxBytes);
    if (kind !== "json") throw statusError(answer, await readStart(answer.body));
    const { value, size } = await readSizedJson(answer, maxBytes, budget.largeMessages);
    const messages = messagesOf(value);
    const [only] = messages;
    // A server that cannot read a request's id answers with an error whose id is null. A lone error belongs to this
    // request.
    if (messages.length === 1 && only?.["id"] === null && only["error"] !== undefined) only["id"] = id;
    const reader = { events, budget, about: requestIdOf(id) };
    for (const message of messages) takeMessage(message, size / messages.length, reader);
    if (!messages.some((message) => answers(message, id)))
      throw new WireError("bad_message", "the server's HTTP response contains no JSON-RPC response to the request", {
        httpStatus: answer.status,
      });
  }

  /** Some servers answer a request with 404 and a JSON-RPC response. Then the session is still valid. */
  async function deliverFrom404(answer: HttpAnswer, id: unknown, maxBytes: number): Promise<boolean> {
    if (sessionId === undefined || kindOf(answer) !== "json") return false;
    const { value, size } = await readSizedJson(answer, maxBytes, budget.largeMessages).catch((error: unknown) => {
      if (error instanceof WireError && error.code === "bad_message") return { value: undefined, size: 0 };
      throw error;
    });
    const messages = messagesOf(value);
    if (!messages.some((message) => answers(message, id))) return false;
    for (const message of messages) takeMessage(message, size / messages.length, { events, budget });
    return true;
  }

  async function readStream(answer: HttpAnswer, id: RequestId, stop: Stop, maxBytes: number): Promise<void> {
    const until = (message: RpcMessage): boolean => answers(message, id);
    const reader = createEventReader({ events, maxBytes, budget, time, about: requestIdOf(id), until });
    await readOne(reader, answer);
    // A server may end the stream before the response. It expects a reconnect with the last event id.
    if (reader.done()) return;
    const ended = stop === undefined ? closing.signal : AbortSignal.any([closing.signal, signalOf(stop)]);
    for (let tries = 0; !reader.done() && reader.position() !== undefined && !stateless() && tries < 5; tries += 1) {
      const before = reader.position();
      await reader.pause(ended, { keepsAlive: true });
      await readOne(reader, await resume(reader.position(), ended));
      if (reader.position() !== before) tries = 0;
    }
    if (!reader.done()) throw new WireError("stream_lost", "the response stream ended before the response");
  }

  /**
   * Requests the rest of a response stream. A failure is not `unsent`, because the server has already received the
   * request.
   */
  async function resume(position: string | undefined, until: AbortSignal): Promise<HttpAnswer> {
    try {
      const next = await get(position, until);
      const gone = expired(next);
      if (gone) throw gone;
      if (next.status !== 200 || kindOf(next) !== "events") throw await refusalOf(next, limits.messageBytes);
      return next;
    } catch (cause) {
      throw until.aborted ? cause : notResumed(cause);
    }
  }

  async function readOne(reader: EventReader, answer: HttpAnswer): Promise<void> {
    try {
      await reader.read(answer.body, times.endGrace);
    } catch (error) {
      const resumable = reader.position() !== undefined && !stateless();
      if (reader.done() || (resumable && error instanceof WireError && error.code === "stream_lost")) return;
      throw error;
    }
  }

  async function send(message: RpcMessage, how: ChannelSendOptions = {}): Promise<void> {
    if (ended) throw new WireError("closed", "the connection is closed", { unsent: true });
    if (sessionError) throw notProcessed(sessionError);
    const stop = how.stop ?? how.signal;
    const isRequest = message["method"] !== undefined && message["id"] !== undefined;
    const maxBytes = Math.min(how.maxBytes ?? limits.messageBytes, limits.messageBytes);
    let answer: HttpAnswer;
    unanswered += 1;
    try {
      answer = await (isRequest ? post : postWithTimeout)(message, stop, how.headers);
      if (isRequest && answer.status === 404 && (await deliverFrom404(answer, message["id"], maxBytes))) return;
    } finally {
      unanswered -= 1;
      endIfAllAnswered();
    }
    const gone = expired(answer);
    if (gone) throw notProcessed(gone);
    if (answer.status < 200 || answer.status > 299) throw await refusalOf(answer, limits.messageBytes);
    if (isRequest) return readAnswer(answer, message["id"] as RequestId, stop, maxBytes);
    discard(answer.body);
    if (message["method"] === "notifications/initialized" && !stateless())
      void keepListening({ get, expired, events, limits, budget, time, signal: closing.signal });
  }

  return {
    get cancelBy() {
      return stateless() ? "stream" : "message";
    },
    send,
    setProtocolVersion(negotiated) {
      version = negotiated;
    },
    async close() {
      if (ended) return;
      // The DELETE request is optional in the protocol, so a failure is only a diagnostic.
      if (sessionId !== undefined && !sessionError && !stateless()) {
        const deleted = client.request({
          url,
          method: "DELETE",
          headers: commonHeaders(),
          stop: AbortSignal.timeout(times.endGrace),
          repeatable: true,
          unattended: true,
        });
        await deleted.then(({ body }) => discard(body)).catch((error: unknown) => events.diagnostic(String(error)));
      }
      end(undefined);
    },
  };
}

function notResumed(cause: unknown): unknown {
  if (!(cause instanceof WireError) || cause.code === "session_expired") return cause;
  const { unsent: _, ...evidence } = cause.evidence;
  const message = `the response stream ended before the response and could not be resumed: ${cause.message}`;
  return new WireError("stream_lost", message, evidence, { cause });
}

/** Adds `unsent`: the server did not process the request, so the caller may send it again. */
function notProcessed({ code, message, evidence }: WireError): WireError {
  return new WireError(code, message, { ...evidence, unsent: true });
}

/** Whether a message is the response to this request. Some servers return numeric ids as strings. */
function answers(message: RpcMessage, id: unknown): boolean {
  return message["method"] === undefined && requestIdOf(message["id"]) === id;
}
