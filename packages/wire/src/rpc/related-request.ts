/** Finds the client's open request that a server's message belongs to. */

import type { JsonObject } from "../session.ts";
import { member, objectOf } from "../shapes/json.ts";
import type { Exchange } from "./exchange.ts";
import type { OpenRequests } from "./open-requests.ts";
import { requestIdOf } from "./rpc-messages.ts";

/** Says which open request of the client a server's question is about. */
export interface Related {
  readonly exchange: Exchange | undefined;
  /** True if the server's request may belong to open requests of different owners. Then `exchange` is undefined. */
  readonly isAmbiguous: boolean;
}

const none: Related = { exchange: undefined, isAmbiguous: false };
const ambiguous: Related = { exchange: undefined, isAmbiguous: true };
/**
 * For this many milliseconds after a caller has stopped waiting, the server may still ask about the caller's request.
 */
const lingering = 10_000;
/** Questions about one request that a server sends within this many milliseconds count as sent at the same time. */
const together = 50;
const subscriptionId = "io.modelcontextprotocol/subscriptionId";

/**
 * Finds the open request that a request of the server belongs to.
 *
 * @param about The request on whose stream the message arrived. Undefined for transports with one stream.
 * @param givenUp Requests whose caller has stopped waiting. The server may still send questions about them.
 */
export function relatedToRequest(
  open: OpenRequests,
  about: number | undefined,
  givenUp: ReadonlyMap<number, Exchange>,
  now: number,
): Related {
  if (about !== undefined) {
    const exchange = open.get(about);
    return exchange === undefined ? none : { exchange, isAmbiguous: false };
  }
  if (open.size === 0) return none;
  const found = onlyOwners(open, mayBeAsked, ({ askedAt = now }) => askedAt > now - together);
  const { exchange } = found;
  if (exchange === undefined) return found;
  for (const other of givenUp.values())
    if (mayBeAsked(other) && other.owner !== exchange.owner && other.givenUpAt > now - lingering) return ambiguous;
  return found;
}

/**
 * Finds the open request that a notification of the server belongs to. Progress notifications are not handled here,
 * because they name their request.
 */
export function relatedToNotification(
  open: OpenRequests,
  method: string,
  params: JsonObject,
  about: number | undefined,
): Exchange | undefined {
  if (about !== undefined) return open.get(about);
  if (method === "notifications/message") return onlyOwners(open, mayLog).exchange;
  const subscribed = "_meta" in params ? member(objectOf(params["_meta"]), subscriptionId) : undefined;
  return subscribed === undefined ? undefined : open.get(requestIdOf(subscribed));
}

/**
 * Returns the matching request that was active last, if all matching requests have the same owner.
 *
 * @param isLikely Whether the request is preferred. A request is not preferred if the server already waits for the
 * client's answer to a question about it.
 */
function onlyOwners(
  open: OpenRequests,
  matches: (exchange: Exchange) => boolean,
  isLikely: (exchange: Exchange) => boolean = () => true,
): Related {
  let best: Exchange | undefined;
  for (const exchange of open.values()) {
    if (!matches(exchange)) continue;
    if (best !== undefined && best.owner !== exchange.owner) return ambiguous;
    if (best === undefined || isBetter(exchange, best)) best = exchange;
  }
  return best === undefined ? none : { exchange: best, isAmbiguous: false };

  function isBetter(exchange: Exchange, than: Exchange): boolean {
    const likely = isLikely(exchange);
    return likely === isLikely(than) ? exchange.activeAt >= than.activeAt : likely;
  }
}

function mayBeAsked(exchange: Exchange): boolean {
  return exchange.mayBeAsked && !exchange.isUnsent;
}

/**
 * Whether a log message may belong to this request. A modern server sends log messages only for requests that ask for
 * them.
 */
function mayLog(exchange: Exchange): boolean {
  return exchange.isModern ? exchange.logLevel !== undefined : mayBeAsked(exchange);
}
