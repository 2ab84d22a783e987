/** Streamable HTTP: every message is a POST, answered with JSON or a stream of events; the older eras have a session and a GET stream. */

import { WireError } from "../errors.ts";
import { type Cancellation, cancellationIn, cancellationOf } from "../rpc/cancellation.ts";
import type { Channel, ChannelEvents, ChannelSendOptions, OpenChannel, RpcMessage } from "../rpc/channel.ts";
import { requestIdOf } from "../rpc/rpc-messages.ts";
import type { TimeSource } from "../rpc/time-source.ts";
import type { HttpTarget, WireTimes } from "../target.ts";
import { createEventReader, type EventReader } from "./event-reader.ts";
import { headerOf, isRetryLater, kindOf, messagesOf, readJson, refusalOf, statusError, toBody } from "./http-answer.ts";
import { createHttpClient, discard, type HttpAnswer, type HttpOptions, readStart } from "./http-client.ts";
import { keepListening } from "./http-listen.ts";

/** From this revision on there are no sessions, no GET stream, and closing a stream cancels its request. */
const firstStateless = "2026-07-28";

export interface HttpChannelOptions extends HttpOptions {
  readonly times: WireTimes;
  readonly time?: TimeSource | undefined;
}

export function openHttp(target: HttpTarget, options: HttpChannelOptions): OpenChannel {
  return async (events) => {
    const client = await createHttpClient(target, options);
    return createHttpChannel(new URL(target.url), client, events, options);
  };
}

type Client = Awaited<ReturnType<typeof createHttpClient>>;

function createHttpChannel(url: URL, client: Client, events: ChannelEvents, options: HttpChannelOptions): Channel {
  const { limits, times, time } = options;
  const life = new AbortController();
  let version: string | undefined;
  let sessionId: string | undefined;
  /** Why the session is over, from the moment in which the server says so. */
  let forgotten: WireError | undefined;
  /** Messages that have been sent and to which no answer has begun. */
  let unanswered = 0;
  let patience: NodeJS.Timeout | undefined;
  let ended = false;

  const stateless = (): boolean => version !== undefined && version >= firstStateless;

  function end(cause: WireError | undefined): void {
    if (ended) return;
    ended = true;
    clearTimeout(patience);
    life.abort();
    client.close();
    events.closed(cause);
  }

  function commonHeaders(): Record<string, string> {
    const headers: Record<string, string> = {};
    if (version !== undefined) headers["mcp-protocol-version"] = version;
    if (sessionId !== undefined) headers["mcp-session-id"] = sessionId;
    return headers;
  }

  /** An answer to anything that carried our session id: 404 means that the server does not know it any more. */
  function expired(answer: HttpAnswer): WireError | undefined {
    if (answer.status !== 404 || sessionId === undefined) return undefined;
    discard(answer.body);
    forgotten ??= new WireError("session_expired", "the server has forgotten this session", { httpStatus: 404 });
    patience ??= setTimeout(end, times.endGrace, forgotten);
    endIfAllHeard();
    return forgotten;
  }

  /** What is still on its way is turned away too, in all likelihood: who hears that for itself knows that it was not done. */
  function endIfAllHeard(): void {
    // Whoever got the last answer hears it first: of everything else that is open nobody knows what became of it.
    if (forgotten && unanswered === 0) setImmediate(end, forgotten);
  }

  async function get(lastEventId: string | undefined, signal: AbortSignal): Promise<HttpAnswer> {
    return client.request({
      url,
      method: "GET",
      headers: {
        accept: "text/event-stream",
        ...commonHeaders(),
        ...(lastEventId === undefined ? {} : { "last-event-id": Buffer.from(lastEventId).toString("latin1") }),
      },
      cancellation: cancellationOf(signal),
      repeatable: true,
    });
  }

  async function post(
    message: RpcMessage,
    cancellation: Cancellation | undefined,
    headers: ChannelSendOptions["headers"],
  ): Promise<HttpAnswer> {
    const answer = await client.request({
      url,
      method: "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...commonHeaders(),
        ...headers,
      },
      body: toBody(message),
      cancellation,
      repeatable: message["method"] !== "tools/call",
    });
    // Only this answer opens a session: some servers send an id with the refusal of a probe as well.
    if (message["method"] === "initialize") sessionId = headerOf(answer, "mcp-session-id");
    return answer;
  }

  /** Nobody's clock runs for a notification or a reply: it has the time that a message may take to leave. */
  async function postInTime(
    message: RpcMessage,
    cancellation: Cancellation | undefined,
    headers: ChannelSendOptions["headers"],
  ): Promise<HttpAnswer> {
    const tired = AbortSignal.timeout(times.send);
    const until = AbortSignal.any([life.signal, tired, ...(cancellation ? [cancellation.signal] : [])]);
    try {
      return await post(message, cancellationOf(until), headers);
    } catch (error) {
      if (!tired.aborted) throw error;
      throw new WireError(
        "send_blocked",
        `the server did not take the message for ${times.send} ms`,
        {},
        { cause: error },
      );
    }
  }

  /** Reads the answer to a request until its response has been delivered. */
  async function readAnswer(answer: HttpAnswer, id: unknown, cancellation: Cancellation | undefined): Promise<void> {
    const kind = kindOf(answer);
    if (kind === "events") return readStream(answer, id, cancellation);
    if (kind !== "json") throw statusError(answer, await readStart(answer.body));
    const parsed = await readJson(answer, limits.messageBytes);
    const messages = messagesOf(parsed);
    const [only] = messages;
    // An error under no id, in answer to one request, can only be about that one.
    if (messages.length === 1 && only?.["id"] === null && only["error"] !== undefined) only["id"] = id;
    for (const message of messages) events.message(message);
    if (!messages.some((message) => answers(message, id)))
      throw new WireError("bad_message", "the server's answer holds no response to the request", {
        httpStatus: answer.status,
      });
  }

  async function readStream(answer: HttpAnswer, id: unknown, cancellation: Cancellation | undefined): Promise<void> {
    const reader = createEventReader({ events, limits, time, until: (message) => answers(message, id) });
    await readOne(reader, answer);
    // A server may end the stream early on purpose and expect us back, if it said where we are.
    if (reader.done()) return;
    const until = cancellation === undefined ? life.signal : AbortSignal.any([life.signal, cancellation.signal]);
    for (let tries = 0; !reader.done() && reader.position() !== undefined && !stateless() && tries < 5; tries += 1) {
      const before = reader.position();
      await reader.pause(until, { keepsAlive: true });
      const next = await get(reader.position(), until);
      const gone = expired(next);
      if (gone) throw gone;
      if (next.status !== 200 || kindOf(next) !== "events") throw await refusalOf(next, limits.messageBytes);
      await readOne(reader, next);
      if (reader.position() !== before) tries = 0;
    }
    if (!reader.done()) throw new WireError("stream_lost", "the answer's stream ended before the answer");
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
    if (forgotten) throw turnedAway(forgotten);
    const cancellation = cancellationIn(how);
    const isRequest = message["method"] !== undefined && message["id"] !== undefined;
    unanswered += 1;
    const answer = await (isRequest ? post : postInTime)(message, cancellation, how.headers).finally(() => {
      unanswered -= 1;
      endIfAllHeard();
    });
    const gone = expired(answer);
    if (gone) throw turnedAway(gone);
    if (answer.status < 200 || answer.status > 299) {
      const refusal = await refusalOf(answer, limits.messageBytes);
      throw isRetryLater(answer) ? turnedAway(refusal) : refusal;
    }
    if (isRequest) return readAnswer(answer, message["id"], cancellation);
    discard(answer.body);
    if (message["method"] === "notifications/initialized" && !stateless())
      void keepListening({ get, expired, events, limits, time, signal: life.signal });
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
      // Polite, not necessary: a server that does not answer is left alone.
      if (sessionId !== undefined && !forgotten && !stateless()) {
        const cancellation = cancellationOf(AbortSignal.timeout(times.endGrace));
        const farewell = client.request({
          url,
          method: "DELETE",
          headers: commonHeaders(),
          cancellation,
          repeatable: true,
          unattended: true,
        });
        await farewell.then(({ body }) => discard(body)).catch((error: unknown) => events.diagnostic(String(error)));
      }
      end(undefined);
    },
  };
}

/** At the door: nothing was done with the message. */
function turnedAway({ code, message, evidence }: WireError): WireError {
  return new WireError(code, message, { ...evidence, unsent: true });
}

/** Whether a message is the response to this request; some servers answer numeric ids as strings. */
function answers(message: RpcMessage, id: unknown): boolean {
  return message["method"] === undefined && requestIdOf(message["id"]) === id;
}
