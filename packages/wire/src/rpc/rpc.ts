/** JSON-RPC over one channel: who asked what, who answers, how long it may take, and how it is called off. */

import { WireError } from "../errors.ts";
import type { JsonObject, NotificationListener, RequestHandler } from "../session.ts";
import { createDiagnostics } from "../shapes/diagnostics.ts";
import { isObject, objectOf } from "../shapes/json.ts";
import { errorMessage } from "../shapes/text.ts";
import type { ConnectOptions, WireLimits, WireTimes } from "../target.ts";
import type { Channel, ChannelSendOptions, OpenChannel, RpcMessage } from "./channel.ts";
import { createRequestClock, type RequestClock } from "./clock.ts";
import { Exchange, type ExchangeOptions } from "./exchange.ts";
import { createInbound } from "./inbound.ts";
import { createNotifications } from "./notifications.ts";
import { openRequest } from "./open-request.ts";
import { createPendingCancellations } from "./pending-cancellations.ts";
import {
  afterSending,
  cancelledError,
  closedError,
  neverSent,
  replyError,
  timeoutError,
  toWireError,
  withStep,
} from "./rpc-errors.ts";
import { progressOf, requestIdOf, withMeta } from "./rpc-messages.ts";

export interface RpcOptions
  extends Pick<ConnectOptions, "onRequest" | "onNotification" | "onDiagnostic" | "onMessage" | "time"> {
  readonly limits: Pick<WireLimits, "inboundRequests">;
  readonly times: Pick<WireTimes, "request" | "endGrace">;
  /** All requests share one stream: nothing of a single one can be ended, so no signals are made for it. */
  readonly oneStream?: boolean;
}

export interface Rpc {
  readonly request: (method: string, params?: JsonObject, options?: ExchangeOptions) => Promise<JsonObject>;
  readonly notify: (method: string, params?: JsonObject, how?: ChannelSendOptions) => Promise<void>;
  readonly onNotification: (listener: NotificationListener) => () => void;
  readonly onRequest: (handler: RequestHandler) => void;
  /** The modern era has no requests of the server: they stay unanswered from now on. */
  readonly ignoreRequests: () => void;
  readonly setProtocolVersion: (version: string) => void;
  readonly diagnostic: (text: string) => void;
  /** For whoever knows of another reason why nobody can hurry. */
  readonly clock: Pick<RequestClock, "now" | "pause" | "resume" | "after">;
  readonly closed: Promise<WireError | undefined>;
  readonly close: () => Promise<void>;
}

/** How many given-up requests are remembered, so that their late answers are no surprise. */
const rememberedGivenUp = 1024;

export async function openRpc(open: OpenChannel, options: RpcOptions, signal?: AbortSignal): Promise<Rpc> {
  const early: RpcMessage[] = [];
  const odd = createDiagnostics((text) => options.onDiagnostic?.(text));
  /** Nesting without end overflows whoever walks it: no message may take down the process, nor the stream it came on. */
  const hear = (rpc: ReceivingRpc, message: RpcMessage): void => {
    try {
      rpc.receive(message);
    } catch (error) {
      odd("a message could not be handled", `a message could not be handled: ${errorMessage(error)}`);
    }
  };
  const state: { rpc?: ReceivingRpc; gone?: { cause: WireError | undefined } } = {};
  const channel = await open(
    {
      message(message) {
        if (state.rpc) hear(state.rpc, message);
        else early.push(message);
      },
      closed(cause) {
        if (state.rpc) state.rpc.end(cause);
        else state.gone = { cause };
      },
      diagnostic: (text) => options.onDiagnostic?.(text),
    },
    signal,
  );
  const rpc = createRpc(channel, options);
  state.rpc = rpc;
  for (const message of early) hear(rpc, message);
  if (state.gone) rpc.end(state.gone.cause);
  return rpc;
}

interface ReceivingRpc extends Rpc {
  receive(message: RpcMessage): void;
  end(cause: WireError | undefined): void;
}

function createRpc(channel: Channel, options: RpcOptions): ReceivingRpc {
  const pending = new Map<number, Exchange>();
  const givenUp = new Set<number>();
  const farewells = createPendingCancellations();
  const diagnostic = (text: string): void => options.onDiagnostic?.(text);
  const odd = createDiagnostics(diagnostic);
  const clock = createRequestClock(expire, options.time);
  const notifications = createNotifications(odd);
  const inbound = createInbound({
    limit: options.limits.inboundRequests,
    reply: (message) => transmit(message),
    diagnose: odd,
    waiting: clock.pause,
    answered: clock.resume,
  });
  if (options.onRequest) inbound.handleWith(options.onRequest);
  if (options.onNotification) notifications.listen(options.onNotification);

  let lastId = 0;
  let over: { readonly cause: WireError | undefined } | undefined;
  let closing: Promise<void> | undefined;
  let settleClosed: (cause: WireError | undefined) => void = () => {};
  const closed = new Promise<WireError | undefined>((resolve) => {
    settleClosed = resolve;
  });

  function transmit(message: RpcMessage, how?: ChannelSendOptions): Promise<void> {
    options.onMessage?.("sent", message);
    try {
      return channel.send(message, how);
    } catch (error) {
      // What the caller gave cannot be written as JSON.
      return Promise.reject(toWireError(error));
    }
  }

  function request(method: string, params?: JsonObject, given: ExchangeOptions = {}): Promise<JsonObject> {
    if (over || closing) return Promise.reject(neverSent(method, over?.cause));
    if (given.signal?.aborted) return Promise.reject(cancelledError(method, given.signal.reason, true));
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      const silence = given.timeout ?? options.times.request;
      const exchange = new Exchange(method, given, clock.now(), silence, { resolve, reject });
      pending.set(id, exchange);
      clock.wakeBy(exchange.due);
      exchange.onAbort(() => giveUp(id, exchange, cancelledError(method, given.signal?.reason, false)));
      const token = given.token === true || given.onProgress !== undefined ? id : undefined;
      const filled = withMeta(params, given.meta, token);
      const message: RpcMessage =
        filled === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params: filled };
      const sent = transmit(message, options.oneStream ? undefined : exchange);
      if (given.awaitedOnClose) farewells.add(sent);
      sent.catch((error: unknown) => {
        if (!exchange.isFollowed && pending.delete(id)) exchange.fail(withStep(error, method));
      });
    });
  }

  /** Nobody waits for the answer any more: the server is told, and what still comes is no surprise. */
  function giveUp(id: number, exchange: Exchange, error: WireError): void {
    pending.delete(id);
    givenUp.add(id);
    if (givenUp.size > rememberedGivenUp) for (const oldest of givenUp) if (givenUp.delete(oldest)) break;
    exchange.abort(error);
    // Whoever follows the request tells the server in its own way.
    if (exchange.quiet || exchange.isFollowed || channel.cancelBy === "stream") return;
    const told = notify("notifications/cancelled", { requestId: id, reason: error.message });
    farewells.add(told);
    told.catch((failure: unknown) =>
      odd("a cancellation was lost", `a cancellation was lost: ${errorMessage(failure)}`),
    );
  }

  function expire(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const [id, exchange] of pending) {
      if (exchange.due > now) next = Math.min(next, exchange.due);
      else giveUp(id, exchange, timeoutError(exchange.method, exchange.silentAt <= now ? exchange.silence : undefined));
    }
    return next;
  }

  function receive(message: RpcMessage): void {
    options.onMessage?.("received", message);
    if (over) return;
    const { method, id } = message;
    if (typeof method !== "string") receiveAnswer(message);
    else if (id === undefined) receiveNotification(method, objectOf(message["params"]));
    else inbound.take(id, method, objectOf(message["params"]));
  }

  function receiveAnswer(message: RpcMessage): void {
    const id = requestIdOf(message["id"]);
    const exchange = pending.get(id);
    if (exchange === undefined) {
      if (!givenUp.delete(id)) odd("an answer to no open request was ignored");
    } else if (exchange.isFollowed) {
      odd("a second answer to a request was ignored");
    } else if (!goesOn(id, exchange, message)) {
      pending.delete(id);
      settle(exchange, message);
    }
  }

  function settle(exchange: Exchange, { result, error }: RpcMessage): void {
    if (isThere(error)) exchange.fail(replyError(error, exchange.method));
    else if (isObject(result)) exchange.succeed(result);
    else if (result === null) exchange.succeed({});
    else
      exchange.fail(
        new WireError("bad_message", `the answer to ${exchange.method} holds no result`, { step: exchange.method }),
      );
  }

  /** Whether this answer was only the beginning: then the request stays open until its end is found. */
  function goesOn(id: number, exchange: Exchange, { result, error }: RpcMessage): boolean {
    if (!exchange.canFollow || !isObject(result) || isThere(error)) return false;
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

  function tell(exchange: Exchange, news: () => void): void {
    exchange.restartTimeout(clock.now());
    try {
      news();
    } catch (error) {
      odd("progress", `a listener failed on progress of ${exchange.method}: ${errorMessage(error)}`);
    }
  }

  function receiveNotification(method: string, params: JsonObject): void {
    if (method === "notifications/progress") receiveProgress(params);
    else if (method === "notifications/cancelled") receiveCancelled(params);
    else notifications.deliver(method, params);
  }

  function receiveProgress(params: JsonObject): void {
    const id = requestIdOf(params["progressToken"]);
    const exchange = pending.get(id);
    if (exchange === undefined) {
      if (!givenUp.has(id)) odd("progress of no open request was ignored");
      return;
    }
    const progress = progressOf(params);
    tell(exchange, () => progress && exchange.progress(progress));
  }

  /** Takes back a request of the server's own, or ends a subscription of ours. */
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
    await transmit({ jsonrpc: "2.0", method, ...(params && { params }) }, how);
  }

  function finish(cause: WireError | undefined): void {
    if (over) return;
    over = { cause };
    inbound.cancelAll();
    clock.stop();
    notifications.stop();
    for (const exchange of pending.values()) exchange.abort(closedError(exchange.method, cause));
    pending.clear();
  }

  async function closeNow(): Promise<void> {
    const said = farewells.sent(options.times.endGrace);
    if (said) await said;
    finish(undefined);
    await channel.close().catch((error: unknown) => diagnostic(`closing failed: ${errorMessage(error)}`));
    settleClosed(undefined);
  }

  return {
    request,
    notify,
    onNotification: notifications.listen,
    onRequest: inbound.handleWith,
    ignoreRequests: inbound.ignoreAll,
    setProtocolVersion: (version) => channel.setProtocolVersion(version),
    diagnostic,
    clock,
    closed,
    close: () => (closing ??= closeNow()),
    receive,
    end(cause) {
      finish(cause);
      if (!closing) settleClosed(cause);
    },
  };
}

/** Some servers send both members, one of them null. */
function isThere(error: unknown): boolean {
  return error !== undefined && error !== null;
}
