/** Sends a request when its `beforeSend` is done, and ends the request when its response arrives. */

import { WireError } from "../errors.ts";
import { isObject } from "../shapes/json.ts";
import type { RpcMessage } from "./channel.ts";
import type { Exchange } from "./exchange.ts";
import { replyError, toWireError } from "./rpc-errors.ts";
import { isErrorReply } from "./rpc-messages.ts";

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
