/** Finds out during which of the client's requests a server sent a message, because most messages do not say so. */

import type { JsonObject } from "../session.ts";
import { member, objectOf } from "../shapes/json.ts";
import type { Exchange } from "./exchange.ts";
import type { OpenRequests } from "./open-requests.ts";
import { requestIdOf } from "./rpc-messages.ts";

/** The client's request during which the server asked something. Undefined if it is not known. */
export interface Related {
  readonly exchange: Exchange | undefined;
  /** Further requests of the same owner during which the server may have asked instead. */
  readonly others?: readonly Exchange[];
  /** True if it could be any of several requests with different owners. Then `exchange` is undefined. */
  readonly isAmbiguous: boolean;
  /** True if the server has never answered a request that another owner has given up: it may mean that one. */
  readonly isDoubtful?: boolean;
}

const none: Related = { exchange: undefined, isAmbiguous: false };
const ambiguous: Related = { exchange: undefined, isAmbiguous: true };
/** After the caller has stopped waiting, the server may still ask something for this many milliseconds. */
const lingering = 10_000;
/** If a server asks several things within this many milliseconds, they count as asked at the same time. */
const together = 50;
const subscriptionId = "io.modelcontextprotocol/subscriptionId";

/**
 * Finds the client's request during which the server sent its own request. A request whose caller declares that it
 * cannot answer counts only if no caller can.
 *
 * @param about The request on whose stream the message arrived. Undefined if all requests share one stream.
 * @param givenUp Requests whose caller has stopped waiting. The server may still ask something about them.
 */
export function relatedToRequest(
  open: OpenRequests,
  method: string,
  about: number | undefined,
  givenUp: ReadonlyMap<number, Exchange>,
  now: number,
): Related {
  if (about !== undefined) {
    const exchange = open.get(about);
    return exchange === undefined ? none : { exchange, isAmbiguous: false };
  }
  if (open.size === 0) return none;
  const isLikely = ({ askedAt = now }: Exchange): boolean => askedAt > now - together;
  let found = onlyOwners(open, mayBeAsked, isLikely);
  if (found.isAmbiguous)
    found = asAmbiguous(onlyOwners(open, (exchange) => mayBeAsked(exchange) && canAnswer(exchange, method), isLikely));
  const { exchange } = found;
  if (exchange === undefined) return found;
  if (mayAskForOthers(givenUp, exchange.owner, now)) return ambiguous;
  return { ...found, isDoubtful: hasGivenUp(givenUp, exchange.owner, Number.NEGATIVE_INFINITY) };
}

/** Requests of several owners are open, so a question that none of them can answer is no single owner's. */
function asAmbiguous(found: Related): Related {
  return found.exchange === undefined ? ambiguous : found;
}

/** The capability with which a caller declares that it answers a method. */
const capabilityOf: ReadonlyMap<string, string> = new Map([
  ["elicitation/create", "elicitation"],
  ["sampling/createMessage", "sampling"],
  ["roots/list", "roots"],
]);

/** Whether the caller can answer the method. A caller without capabilities of its own has those of the session. */
function canAnswer({ capabilities }: Exchange, method: string): boolean {
  return capabilities === undefined || capabilities[capabilityOf.get(method) ?? ""] !== undefined;
}

/**
 * Whether the server may still ask something about a request that another owner has given up. Meanwhile a request of
 * `owner` on the same stream makes each question ambiguous.
 */
export function mayAskForOthers(
  givenUp: ReadonlyMap<number, Exchange>,
  owner: string | undefined,
  now: number,
): boolean {
  return hasGivenUp(givenUp, owner, now - lingering);
}

function hasGivenUp(givenUp: ReadonlyMap<number, Exchange>, owner: string | undefined, since: number): boolean {
  for (const other of givenUp.values())
    if (mayBeAsked(other) && other.owner !== owner && other.givenUpAt > since) return true;
  return false;
}

/**
 * Finds the client's request during which the server sent a notification. Not for progress, which names its request.
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
 * Returns the matching request that was active last and the others of its owner, or `ambiguous` if the matching requests
 * have different owners.
 *
 * @param isLikely Whether to prefer a request. False if the server already waits for an answer during that request.
 */
function onlyOwners(
  open: OpenRequests,
  matches: (exchange: Exchange) => boolean,
  isLikely: (exchange: Exchange) => boolean = () => true,
): Related {
  let best: Exchange | undefined;
  const others: Exchange[] = [];
  for (const exchange of open.values()) {
    if (!matches(exchange)) continue;
    if (best === undefined) best = exchange;
    else if (best.owner !== exchange.owner) return ambiguous;
    else if (isBetter(exchange, best)) {
      others.push(best);
      best = exchange;
    } else others.push(exchange);
  }
  return best === undefined ? none : { exchange: best, others, isAmbiguous: false };

  function isBetter(exchange: Exchange, than: Exchange): boolean {
    const likely = isLikely(exchange);
    return likely === isLikely(than) ? exchange.activeAt >= than.activeAt : likely;
  }
}

function mayBeAsked(exchange: Exchange): boolean {
  return exchange.mayBeAsked && !exchange.isUnsent;
}

/** A modern server sends log messages only for requests that ask for them. */
function mayLog(exchange: Exchange): boolean {
  return exchange.isModern ? exchange.logLevel !== undefined : mayBeAsked(exchange);
}
