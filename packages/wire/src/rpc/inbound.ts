/**
 * Answers requests of the other side (for a client, the server) by calling a handler. Limits how many requests are
 * open.
 */

import { WireError } from "../errors.ts";
import type { JsonObject, RequestHandler, RequestOrigin, RequestStop } from "../session.ts";
import type { Diagnose } from "../shapes/diagnostics.ts";
import { objectOf } from "../shapes/json.ts";
import { clip, errorMessage } from "../shapes/text.ts";
import type { WireLimits } from "../target.ts";
import { RequestAbort } from "./abort.ts";
import type { RequestId, RpcMessage } from "./channel.ts";
import type { Exchange } from "./exchange.ts";
import type { Related } from "./related-request.ts";

const methodNotFound = -32601;
const internalError = -32603;
const busy = -32000;

/** Limits, and the functions that send a response and report problems. */
export interface InboundOptions {
  readonly limits: Pick<WireLimits, "inboundRequests" | "inboundBytes">;
  readonly reply: (message: RpcMessage) => Promise<void>;
  /** If the other side reads too slowly, returns a promise that resolves when it has read more. */
  readonly drained?: (() => Promise<void> | undefined) | undefined;
  readonly diagnose: Diagnose;
  /** Whether Fairlead answers `ping` itself. Default: true. If false, the handler gets it. */
  readonly answersPing?: boolean | undefined;
  /**
   * Called when the other side waits for a response. `exchange` is our request whose option `answer` gives it, if any;
   * `others` are those that may be meant instead.
   */
  readonly waiting: (exchange: Exchange | undefined, others: readonly Exchange[]) => void;
  readonly answered: (exchange: Exchange | undefined, others: readonly Exchange[]) => void;
}

/** A `RequestHandler` that gets the request's id, and a `RequestAbort` instead of an `AbortSignal`. */
export type InboundHandler = (
  method: string,
  params: JsonObject,
  stop: RequestAbort,
  origin: RequestOrigin & { readonly id: RequestId; readonly headers: InboundMessage["headers"] },
) => Promise<JsonObject>;

/** Receives the other side's requests, answers them and cancels them. */
export interface Inbound {
  readonly take: (id: unknown, message: InboundMessage) => void;
  /** Aborts the handler of a request and sends no response. Returns false if the request is not open. */
  readonly cancel: (id: unknown) => boolean;
  readonly cancelAll: () => void;
  readonly handleWith: (handler: RequestHandler) => void;
  /** Sets the handler in a program that is an MCP server. A client calls `handleWith`. */
  readonly serveWith: (handler: InboundHandler) => void;
  /** Ignores all further requests, because the modern protocol era allows none from the server. */
  readonly ignoreAll: () => void;
}

interface InboundMessage {
  readonly method: string;
  readonly params: JsonObject;
  readonly size: number;
  readonly related: Related;
  /** The headers of an HTTP request that concern this message. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

interface OpenInbound {
  readonly controller: RequestStop;
  readonly size: number;
  /** Our request whose option `answer` handles the other side's request. Undefined if `handler` does. */
  readonly exchange: Exchange | undefined;
  /** Our requests during which the other side may have asked instead. */
  readonly others: readonly Exchange[];
}

const noOthers: readonly Exchange[] = [];

/** Answers requests. Without a handler, it answers `ping` and refuses everything else with "method not found". */
export function createInbound(options: InboundOptions): Inbound {
  const { inboundRequests: limit, inboundBytes: limitBytes } = options.limits;
  const open = new Map<RequestId, OpenInbound>();
  let openBytes = 0;
  let handler: InboundHandler | undefined;
  let ignoring = false;
  /** The responses that are written together share one promise. `ids` are their requests. */
  let replying: { readonly sent: Promise<void>; readonly ids: RequestId[] } | undefined;

  const reportLostResponse = (error: unknown): void =>
    options.diagnose("a response was lost", `a response was lost: ${errorMessage(error)}`);

  function reply(message: RpcMessage): void {
    options.reply(message).catch(reportLostResponse);
  }

  const refuse = (id: RequestId, code: number, message: string): void =>
    reply({ jsonrpc: "2.0", id, error: { code, message } });

  async function answer(id: RequestId, message: InboundMessage, handle: InboundHandler | undefined): Promise<void> {
    const { method, params, size, related, headers } = message;
    const exchange = related.exchange?.answer === undefined ? undefined : related.exchange;
    const others = (exchange && related.others) ?? noOthers;
    const controller = new RequestAbort();
    const request = { controller, size, exchange, others };
    open.set(id, request);
    openBytes += size;
    options.waiting(exchange, others);
    const stopListening = exchange && onAllEnded([exchange, ...others], () => controller.abort(questionOver()));
    let given: RpcMessage;
    try {
      const { isAmbiguous, isDoubtful } = related;
      const result = await (exchange?.answer?.(method, params, controller.signal, { isAmbiguous, isDoubtful }) ??
        handle?.(method, params, controller, { id, isAmbiguous, headers }));
      given = { jsonrpc: "2.0", id, result: objectOf(result) };
    } catch (error) {
      given = { jsonrpc: "2.0", id, error: faultOf(error) };
    }
    stopListening?.();
    controller.end();
    if (open.get(id) !== request) return;
    close(id, request);
    respond(id, given);
  }

  function respond(id: RequestId, message: RpcMessage): void {
    const sent = options.reply(message);
    if (sent === replying?.sent) {
      replying.ids.push(id);
      return;
    }
    const ids = [id];
    replying = { sent, ids };
    sent.catch((error: unknown) => {
      // All responses that are refused for the same reason share one promise. Later ones are not in `ids`.
      if (replying?.ids === ids) replying = undefined;
      if (isBlocked(error)) return void refuseLater(ids, error);
      if (!isUnsendable(error)) return reportLostResponse(error);
      // The result cannot be sent, but the other side still needs a response.
      for (const each of ids) refuse(each, internalError, error.message);
    });
  }

  /** Too many bytes wait for the other side. It gets a small error instead of the result, once it reads again. */
  async function refuseLater(ids: readonly RequestId[], { message }: WireError): Promise<void> {
    for (let slow = options.drained?.(); slow !== undefined; slow = options.drained?.()) await slow;
    for (const each of ids) refuse(each, internalError, `the result was dropped: ${message}; the request may have run`);
  }

  function close(id: RequestId, { size, exchange, others }: OpenInbound): void {
    open.delete(id);
    openBytes -= size;
    options.answered(exchange, others);
  }

  function cancel(id: unknown): boolean {
    if (!isRequestId(id)) return false;
    const request = open.get(id);
    if (request === undefined) return false;
    close(id, request);
    request.controller.abort(new WireError("cancelled", "the server no longer waits for the response"));
    return true;
  }

  return {
    take(id, message) {
      const { method, size, related } = message;
      if (ignoring || !isRequestId(id))
        options.diagnose("unanswerable", `the server sent the request ${clip(method, 100)}, which was ignored`);
      else if (method === "ping" && options.answersPing !== false) reply({ jsonrpc: "2.0", id, result: {} });
      else if (open.has(id))
        options.diagnose("repeated", `the server sent ${clip(method, 100)} twice with the same id`);
      else if (handler === undefined && related.exchange?.answer === undefined)
        refuse(id, methodNotFound, `${clip(method, 100)} is not supported`);
      else if (open.size >= limit) refuse(id, busy, `already answering ${limit} requests`);
      else if (openBytes + size > limitBytes)
        refuse(id, busy, `the open requests together would be larger than ${limitBytes} bytes`);
      else void answer(id, message, handler);
    },
    cancel,
    cancelAll() {
      for (const id of open.keys()) cancel(id);
    },
    handleWith(given) {
      handler = (method, params, stop, origin) => given(method, params, stop.signal, origin);
    },
    serveWith(given) {
      handler = given;
    },
    ignoreAll() {
      ignoring = true;
    },
  };
}

/**
 * Calls the callback when all these requests have ended: only then does the other side certainly need no answer to what
 * it asked during one of them. The returned function removes the callback.
 */
function onAllEnded(exchanges: readonly Exchange[], callback: () => void): () => void {
  let open = exchanges.length;
  const stops = exchanges.map((exchange) =>
    exchange.onEnd(() => {
      open -= 1;
      if (open === 0) callback();
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

function questionOver(): WireError {
  return new WireError("cancelled", "the client's request has ended, so the server's question needs no answer");
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number";
}

/** True if the message is not JSON or is too large. Another message could still be sent. */
function isUnsendable(error: unknown): error is WireError {
  if (!(error instanceof WireError) || error.evidence.unsent !== true) return false;
  return error.code === "bad_message" || error.code === "too_large";
}

/** True if a message was not accepted because too many bytes wait. */
function isBlocked(error: unknown): error is WireError {
  return error instanceof WireError && error.code === "send_blocked" && error.evidence.unsent === true;
}

function faultOf(error: unknown): JsonObject {
  if (error instanceof WireError && error.evidence.rpc) return { ...error.evidence.rpc, message: error.message };
  return { code: internalError, message: errorMessage(error) };
}
