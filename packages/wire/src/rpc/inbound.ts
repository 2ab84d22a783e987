/** The server's own requests: answers each through the handler, a bounded number at a time. */

import { WireError } from "../errors.ts";
import type { JsonObject, RequestHandler } from "../session.ts";
import type { Diagnose } from "../shapes/diagnostics.ts";
import { objectOf } from "../shapes/json.ts";
import { clip, errorMessage } from "../shapes/text.ts";
import type { RequestId, RpcMessage } from "./channel.ts";

const methodNotFound = -32601;
const internalError = -32603;
const busy = -32000;

export interface InboundOptions {
  /** How many may be open at once. */
  readonly limit: number;
  readonly reply: (message: RpcMessage) => Promise<void>;
  readonly diagnose: Diagnose;
  /** Called when the server begins to wait for an answer, and when it has one. */
  readonly waiting: () => void;
  readonly answered: () => void;
}

export interface Inbound {
  readonly take: (id: unknown, method: string, params: JsonObject) => void;
  /** True if that request was open: its handler's signal is aborted, and nothing is sent. */
  readonly cancel: (id: unknown) => boolean;
  readonly cancelAll: () => void;
  readonly handleWith: (handler: RequestHandler) => void;
  /** From now on requests are left unanswered: the modern era has none. */
  readonly ignoreAll: () => void;
}

export function createInbound(options: InboundOptions): Inbound {
  const open = new Map<RequestId, AbortController>();
  let handler: RequestHandler | undefined;
  let ignoring = false;

  const lost = (error: unknown): void =>
    options.diagnose("a reply was lost", `a reply was lost: ${errorMessage(error)}`);

  function reply(message: RpcMessage): void {
    options.reply(message).catch(lost);
  }

  const refuse = (id: RequestId, code: number, message: string): void =>
    reply({ jsonrpc: "2.0", id, error: { code, message } });

  async function answer(id: RequestId, method: string, params: JsonObject, handle: RequestHandler): Promise<void> {
    const controller = new AbortController();
    open.set(id, controller);
    options.waiting();
    let given: RpcMessage;
    try {
      given = { jsonrpc: "2.0", id, result: objectOf(await handle(method, params, controller.signal)) };
    } catch (error) {
      given = { jsonrpc: "2.0", id, error: faultOf(error) };
    }
    if (open.get(id) !== controller) return;
    open.delete(id);
    options.answered();
    // The server waits for an answer, also when the handler's own is none that can be sent.
    options
      .reply(given)
      .catch((error: unknown) => (isUnsendable(error) ? refuse(id, internalError, error.message) : lost(error)));
  }

  function cancel(id: unknown): boolean {
    if (!isRequestId(id)) return false;
    const controller = open.get(id);
    if (controller === undefined) return false;
    open.delete(id);
    options.answered();
    controller.abort(new WireError("cancelled", "nobody waits for the answer any more"));
    return true;
  }

  return {
    take(id, method, params) {
      if (ignoring || !isRequestId(id))
        options.diagnose("unanswerable", `the server asked ${clip(method, 100)}, which nobody may answer`);
      else if (method === "ping") reply({ jsonrpc: "2.0", id, result: {} });
      else if (open.has(id)) options.diagnose("repeated", `the server asked ${clip(method, 100)} twice under one id`);
      else if (handler === undefined) refuse(id, methodNotFound, `${clip(method, 100)} is not supported`);
      else if (open.size >= options.limit) refuse(id, busy, `already answering ${options.limit} requests`);
      else void answer(id, method, params, handler);
    },
    cancel,
    cancelAll() {
      for (const id of open.keys()) cancel(id);
    },
    handleWith(given) {
      handler = given;
    },
    ignoreAll() {
      ignoring = true;
    },
  };
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number";
}

/** Whether it was the message itself that could not be sent: not JSON, or too much of it. */
function isUnsendable(error: unknown): error is WireError {
  if (!(error instanceof WireError) || error.evidence.unsent !== true) return false;
  return error.code === "bad_message" || error.code === "too_large";
}

/** What goes back when the handler throws: the JSON-RPC error it chose, else an internal one. */
function faultOf(error: unknown): JsonObject {
  if (error instanceof WireError && error.evidence.rpc) return { ...error.evidence.rpc, message: error.message };
  return { code: internalError, message: errorMessage(error) };
}
