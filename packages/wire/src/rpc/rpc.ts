/** JSON-RPC over one channel: matches responses to requests, applies timeouts, and sends and receives cancellations. */

import { slowMethods } from "../eras/protocol.ts";
import { WireError } from "../errors.ts";
import type { JsonObject, NotificationListener, RequestHandler } from "../session.ts";
import { createDiagnostics } from "../shapes/diagnostics.ts";
import { isObject, objectOf } from "../shapes/json.ts";
import { errorMessage } from "../shapes/text.ts";
import type { ConnectOptions, WireLimits, WireTimes } from "../target.ts";
import type { Channel, ChannelSendOptions, OpenChannel, RpcMessage } from "./channel.ts";
import { Exchange, openRequest, releaseTimeouts, resumeTimeouts, type SendRequest } from "./exchange.ts";
import { createInbound, type InboundHandler } from "./inbound.ts";
import { createNotifications } from "./notifications.ts";
import { OpenRequests } from "./open-requests.ts";
import type { Unsolicited } from "./read-budget.ts";
import { createReception, type Receiver } from "./reception.ts";
import { mayAskForOthers, relatedToNotification, relatedToRequest } from "./related-request.ts";
import {
  afterSending,
  cancelledError,
  closedError,
  neverSent,
  replyError,
  timeoutError,
  tooLargeError,
  toWireError,
} from "./rpc-errors.ts";
import { forwardedMeta, isErrorReply, progressOf, requestIdOf, requestMessage, withMeta } from "./rpc-messages.ts";
import { RequestClock, within } from "./time.ts";

/** Callbacks, limits and times of one JSON-RPC connection. */
export interface RpcOptions
  extends Pick<
    ConnectOptions,
    | "onRequest"
    | "onNotification"
    | "onReopened"
    | "onStreamEnded"
    | "onDiagnostic"
    | "onMessage"
    | "time"
    | "timeoutClock"
  > {
  /** The handler of a program that is an MCP server. A client uses `onRequest`. */
  readonly onServed?: InboundHandler;
  readonly answersPing?: boolean;
  readonly limits: Pick<WireLimits, "inboundRequests" | "inboundBytes" | "messageBytes" | "unsolicitedMessageBytes">;
  readonly times: Pick<WireTimes, "request" | "endGrace">;
  /** Whether all requests share one stream. If so, the transport cannot cancel a single request. */
  readonly oneStream?: boolean;
}

export interface Rpc {
  readonly request: SendRequest;
  readonly notify: (method: string, params?: JsonObject, how?: ChannelSendOptions) => Promise<void>;
  readonly onNotification: (listener: NotificationListener) => () => void;
  /** Delivers the repeated notifications that are held back. */
  readonly flushNotifications: () => void;
  readonly onRequest: (handler: RequestHandler) => void;
  /** Ignores all further requests, because the modern protocol era allows none from the server. */
  readonly ignoreRequests: () => void;
  /** See `Session.mayAskForOthers`. */
  readonly mayAskForOthers: (owner: string) => boolean;
  readonly setProtocolVersion: (version: string) => void;
  readonly diagnostic: (text: string) => void;
  /** The clock of the request timeouts. */
  readonly clock: Pick<RequestClock, "now" | "after">;
  /** If the other side reads too slowly, returns a promise that resolves when it has read more. */
  readonly drained: () => Promise<void> | undefined;
  readonly closed: Promise<WireError | undefined>;
  readonly close: () => Promise<void>;
}

/** For this many requests whose caller has stopped waiting, a late response causes no diagnostic. */
const maxGivenUp = 1024;

/** Opens the channel. Resolves when messages can be sent, which is before the handshake. */
export async function openRpc(open: OpenChannel, options: RpcOptions, signal?: AbortSignal): Promise<Rpc> {
  const { events, attach } = createReception(options);
  const rpc = createRpc(await open(events, signal), options);
  attach(rpc);
  return rpc;
}

function createRpc(channel: Channel, options: RpcOptions): Rpc & Receiver {
  const pending = new OpenRequests();
  const givenUp = new Map<number, Exchange>();
  /** Messages that `close` waits for. A message that could not be sent counts as sent. */
  const leaving = new Set<Promise<unknown>>();
  const diagnostic = (text: string): void => options.onDiagnostic?.(text);
  const diagnose = createDiagnostics(diagnostic);
  const clock = new RequestClock(expire, options.timeoutClock ?? options.time);
  const notifications = createNotifications(diagnose);
  const inbound = createInbound({
    limits: options.limits,
    answersPing: options.answersPing,
    reply: (message) => transmit(message),
    drained: () => channel.drained?.(),
    diagnose,
    waiting(exchange, others) {
      if (exchange === undefined) return clock.pause();
      exchange.pause(clock.now());
      for (const other of others) other.holdTimeouts(clock.now());
    },
    answered(exchange, others) {
      if (exchange === undefined) return clock.resume();
      resumeTimeouts(exchange, clock);
      for (const other of others) releaseTimeouts(other, clock);
    },
  });
  if (options.onServed) inbound.serveWith(options.onServed);
  if (options.onRequest) inbound.handleWith(options.onRequest);
  if (options.onNotification) notifications.listen(options.onNotification);

  let over: { readonly cause: WireError | undefined } | undefined;
  let closing: Promise<void> | undefined;
  let settleClosed: (cause: WireError | undefined) => void = () => {};
  const closed = new Promise<WireError | undefined>((resolve) => {
    settleClosed = resolve;
  });

  function transmit(message: RpcMessage, how?: ChannelSendOptions, about?: AbortSignal): Promise<void> {
    options.onMessage?.("sent", message, about);
    try {
      return channel.send(message, how);
    } catch (error) {
      // The channel throws if the caller's parameters cannot be written as JSON.
      return Promise.reject(toWireError(error));
    }
  }

  const request: SendRequest = (method, params, given = {}) => {
    if (over || closing) return Promise.reject(neverSent(method, over?.cause));
    const signal = given.stop ?? given.signal;
    if (signal?.aborted) return Promise.reject(cancelledError(method, signal.reason, true));
    return new Promise((resolve, reject) => {
      const silence = given.timeout ?? options.times.request;
      const exchange = new Exchange(method, given, clock.now(), silence, resolve, reject);
      const id = pending.add(exchange);
      given.onId?.(id);
      clock.wakeBy(exchange.due);
      exchange.onCallerAbort(() => giveUp(exchange, cancelledError(method, signal?.reason, exchange.isUnsent)));
      const isSlow = given.token ?? slowMethods.has(method);
      exchange.hasToken = isSlow;
      const token = isSlow || given.onProgress !== undefined ? id : undefined;
      const message = requestMessage(id, method, withMeta(params, forwardedMeta(given.meta, given.envelope), token));
      const how = options.oneStream ? undefined : exchange;
      const sent = given.beforeSend
        ? sendAfter(given.beforeSend, exchange, () => transmit(message, how, given.signal))
        : transmit(message, how, given.signal);
      if (given.awaitedOnClose) awaitOnClose(sent);
      pending.failWith(sent, id);
    });
  };

  function awaitOnClose(message: Promise<unknown>): void {
    const left: Promise<unknown> = message.catch(() => undefined).then(() => leaving.delete(left));
    leaving.add(left);
  }

  /** Fails a request and tells the server. Keeps the id, because the server may still send a response. */
  function giveUp(exchange: Exchange, error: WireError): void {
    const { id } = exchange;
    pending.delete(id);
    givenUp.set(id, exchange.giveUp(clock.now()));
    if (givenUp.size > maxGivenUp) for (const oldest of givenUp.keys()) if (givenUp.delete(oldest)) break;
    exchange.abort(error);
    // A request that became a task is cancelled by `tasks/cancel`.
    if (exchange.isUnsent || exchange.quiet || exchange.isFollowed || channel.cancelBy === "stream") return;
    const sent = notify("notifications/cancelled", { requestId: id, reason: error.message });
    awaitOnClose(sent);
    sent.catch((failure: unknown) =>
      diagnose("a cancellation could not be sent", `a cancellation could not be sent: ${errorMessage(failure)}`),
    );
  }

  function expire(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const exchange of pending.values()) {
      if (exchange.due > now) next = Math.min(next, exchange.due);
      else giveUp(exchange, timeoutError(exchange.method, exchange.timesOutAt <= now ? exchange.silence : undefined));
    }
    return next;
  }

  function receive(
    message: RpcMessage,
    size: number,
    about?: number,
    headers?: Readonly<Record<string, string>>,
  ): Unsolicited | undefined {
    options.onMessage?.("received", message);
    if (over) return undefined;
    const { method, id } = message;
    if (typeof method !== "string") return receiveAnswer(message, size);
    const params = objectOf(message["params"]);
    if (id === undefined) {
      receiveNotification(method, params, about);
      return "notifications";
    }
    const related = relatedToRequest(pending, method, about, givenUp, clock.now());
    inbound.take(id, { method, params, size, related, headers });
    return "requests";
  }

  function receiveAnswer(message: RpcMessage, size: number): Unsolicited | undefined {
    const id = requestIdOf(message["id"]);
    const exchange = pending.get(id);
    if (exchange === undefined) {
      // The caller has stopped waiting, but the server was asked for this response: it is no flood.
      if (givenUp.delete(id)) return undefined;
      diagnose("a response to an unknown request was ignored");
      return "responses to unknown requests";
    }
    if (exchange.isFollowed) {
      diagnose("a second response to a request was ignored");
      return "responses to unknown requests";
    }
    exchange.received(size);
    if (size > exchange.maxBytes) tooLarge(exchange);
    else if (!staysOpen(id, exchange, message)) {
      pending.delete(id);
      settle(exchange, message);
    }
    return undefined;
  }

  function largest(): number {
    const { messageBytes, unsolicitedMessageBytes } = options.limits;
    let most = Math.min(unsolicitedMessageBytes, messageBytes);
    for (const exchange of pending.values()) most = Math.max(most, Math.min(exchange.maxBytes, messageBytes));
    return most;
  }

  /**
   * Fails the request that the dropped message answers. A response without a known id could answer any request, so all
   * fail.
   */
  function dropped(start: string, cause?: WireError): void {
    const id = Number(/"id"\s*:\s*"?(\d{1,15})/.exec(start)?.[1]);
    const exchange = pending.get(id);
    const answered = exchange ? [exchange] : start.includes('"method"') ? [] : pending.values();
    const reason = cause?.message ?? `it answers no request and is larger than ${largest()} bytes`;
    if (answered.length === 0) diagnose("dropped", `a message was dropped: ${reason}`);
    for (const each of answered) tooLarge(each, cause);
  }

  function tooLarge(exchange: Exchange, cause?: WireError): void {
    pending.delete(exchange.id);
    exchange.fail(tooLargeError(exchange.method, Math.min(exchange.maxBytes, options.limits.messageBytes), cause));
  }

  /** True if the response is a task, so the request waits for the task's result. */
  function staysOpen(id: number, exchange: Exchange, { result, error }: RpcMessage): boolean {
    if (!exchange.canFollow || !isObject(result) || isErrorReply(error)) return false;
    const end = exchange.follow(result, openRequest(exchange, clock, tell));
    end?.then(
      (last) => {
        if (pending.delete(id)) exchange.succeed(last);
      },
      (failure: unknown) => {
        if (pending.delete(id)) exchange.fail(afterSending(failure, exchange.method));
      },
    );
    return end !== undefined;
  }

  function tell(exchange: Exchange, listener: () => void): void {
    exchange.restartTimeout(clock.now());
    try {
      listener();
    } catch (error) {
      diagnose("progress", `a progress listener of ${exchange.method} failed: ${errorMessage(error)}`);
    }
  }

  function receiveNotification(method: string, params: JsonObject, about: number | undefined): void {
    if (method === "notifications/progress") receiveProgress(params);
    else if (method === "notifications/cancelled") receiveCancelled(params);
    else {
      const listener = relatedToNotification(pending, method, params, about)?.onNotification;
      if (listener) notifications.tell(listener, method, params);
      notifications.deliver(method, params);
    }
  }

  function receiveProgress(params: JsonObject): void {
    const id = requestIdOf(params["progressToken"]);
    const exchange = pending.get(id);
    if (exchange === undefined) {
      if (!givenUp.has(id)) diagnose("progress of an unknown request was ignored");
      return;
    }
    const progress = progressOf(params);
    tell(exchange, () => progress && exchange.progress(progress));
  }

  /** The server cancels its own request, or ends a subscription of the client. */
  function receiveCancelled(params: JsonObject): void {
    if (inbound.cancel(params["requestId"])) return;
    const id = requestIdOf(params["requestId"]);
    const exchange = pending.get(id);
    if (!exchange?.openEnded) return;
    pending.delete(id);
    exchange.abort(new WireError("stream_lost", `the server ended ${exchange.method}`, { step: exchange.method }));
  }

  async function notify(method: string, params?: JsonObject, how?: ChannelSendOptions): Promise<void> {
    if (over) throw neverSent(method, over.cause);
    await transmit({ jsonrpc: "2.0", method, params }, how);
  }

  function finish(cause: WireError | undefined): void {
    if (over) return;
    over = { cause };
    inbound.cancelAll();
    clock.stop();
    notifications.stop();
    for (const exchange of pending.clear()) exchange.abort(closedError(exchange.method, cause));
  }

  async function closeNow(): Promise<void> {
    if (leaving.size > 0) await within(Promise.all(leaving), options.times.endGrace);
    finish(undefined);
    await channel.close().catch((error: unknown) => diagnostic(`closing failed: ${errorMessage(error)}`));
    settleClosed(undefined);
  }

  return {
    request,
    notify,
    onNotification: notifications.listen,
    flushNotifications: notifications.flush,
    onRequest: inbound.handleWith,
    ignoreRequests: inbound.ignoreAll,
    mayAskForOthers: (owner) => givenUp.size > 0 && mayAskForOthers(givenUp, owner, clock.now()),
    setProtocolVersion: (version) => channel.setProtocolVersion(version),
    diagnostic,
    clock,
    drained: () => channel.drained?.(),
    closed,
    close: () => (closing ??= closeNow()),
    receive,
    largest,
    dropped,
    end(cause) {
      finish(cause);
      if (!closing) settleClosed(cause);
    },
  };
}

/** Ends an open request with its response. A null result counts as an empty object. */
export function settle(exchange: Exchange, { result, error }: RpcMessage): void {
  if (isErrorReply(error)) exchange.fail(replyError(error, exchange.method));
  else if (isObject(result)) exchange.succeed(result);
  else if (result === null) exchange.succeed({});
  else
    exchange.fail(
      new WireError("bad_message", `the response to ${exchange.method} has no result`, { step: exchange.method }),
    );
}

/** Waits for a request's `beforeSend`, then sends the request, unless it has ended in the meantime. */
export function sendAfter(
  prepare: () => Promise<void> | undefined,
  exchange: Exchange,
  send: () => Promise<void>,
): Promise<void> {
  exchange.isUnsent = true;
  try {
    const preparing = prepare();
    if (preparing !== undefined) return preparing.then(sendNow, fail);
  } catch (error) {
    return Promise.reject(unsentError(error));
  }
  return sendNow();

  function sendNow(): Promise<void> {
    if (exchange.isEnded) return Promise.resolve();
    exchange.isUnsent = false;
    return send();
  }

  function fail(error: unknown): never {
    throw unsentError(error);
  }
}

function unsentError(error: unknown): WireError {
  const { code, message, evidence } = toWireError(error);
  return new WireError(code, message, { ...evidence, unsent: true }, { cause: error });
}
