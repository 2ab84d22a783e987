/** Ends a request with its response. */

import { WireError } from "../errors.ts";
import { isObject } from "../shapes/json.ts";
import type { RpcMessage } from "./channel.ts";
import type { Exchange } from "./exchange.ts";
import { replyError } from "./rpc-errors.ts";
import { isErrorReply } from "./rpc-messages.ts";

/** Resolves or rejects the request, which must be open. */
export function settle(exchange: Exchange, { result, error }: RpcMessage): void {
  if (isErrorReply(error)) exchange.fail(replyError(error, exchange.method));
  else if (isObject(result)) exchange.succeed(result);
  else if (result === null) exchange.succeed({});
  else
    exchange.fail(
      new WireError("bad_message", `the response to ${exchange.method} has no result`, { step: exchange.method }),
    );
}
