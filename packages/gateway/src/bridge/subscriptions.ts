/** The resource subscriptions of one client, and the answer to `subscriptions/listen`. */

import type { ListName } from "@fairlead/core/events";
import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, member } from "@fairlead/wire/json";
import { serverOfUri } from "../lists/client-view.ts";
import type { ClientCall } from "../questions/client-call.ts";
import { askedClient } from "./asked-client.ts";
import type { BridgeContext } from "./bridge-context.ts";
import { greet } from "./greeting.ts";
import { rpcCodes, rpcError, toRpcError } from "./rpc-error.ts";

/** Maximum number of resources that one client may subscribe to. */
const mostResources = 1024;

/** The resources that one client has subscribed to, by URI. */
export interface ResourceSubscriptions {
  /**
   * Subscribes to a resource. Does nothing if the client has already subscribed.
   * @throws WireError with the JSON-RPC error for the client
   */
  add(call: ClientCall, uri: unknown): Promise<void>;
  remove(uri: unknown): void;
  /** Whether the client subscribed to the resource at this server. */
  has(server: string, uri: string): boolean;
  close(): void;
}

/** Creates an empty set of subscriptions. `close` ends all of them. */
export function createResourceSubscriptions(context: BridgeContext): ResourceSubscriptions {
  const held = new Map<string, { readonly server: string; readonly subscription: Disposable }>();
  /** Subscriptions that the server has not confirmed yet. They count towards `mostResources`. */
  const opening = new Set<{ readonly uri: string; isRemoved: boolean }>();
  let isClosed = false;

  return {
    async add(call, uri) {
      if (typeof uri === "string" && held.has(uri)) return;
      if (held.size + opening.size >= mostResources)
        throw rpcError(rpcCodes.refused, `a client can subscribe to at most ${mostResources} resources`);
      const server = typeof uri === "string" ? serverOfUri(uri, context.view()) : undefined;
      if (typeof uri !== "string" || server === undefined)
        throw rpcError(rpcCodes.resourceNotFound, "no configured server lists this resource", { uri });
      const begun = { uri, isRemoved: false };
      opening.add(begun);
      try {
        const host = await context.hosts.hostOf(server, call.era);
        const request = { server, kind: "resource" as const, name: uri, identity: host.identify(server) };
        const subscription = await host.subscribe(server, uri, {
          signal: call.signal,
          client: context.client,
          // A modern client cannot be asked during `subscriptions/listen`, so its user cannot confirm the subscription.
          ...(call.era === "legacy" && {
            confirm: context.consent.port(askedClient(context, call), request, call.signal),
          }),
        });
        // Meanwhile the client may have subscribed again, unsubscribed or disconnected.
        if (isClosed || begun.isRemoved || held.has(uri)) subscription[Symbol.dispose]();
        else held.set(uri, { server, subscription });
      } catch (error) {
        throw toRpcError(error);
      } finally {
        opening.delete(begun);
      }
    },
    remove(uri) {
      if (typeof uri !== "string") return;
      for (const begun of opening) if (begun.uri === uri) begun.isRemoved = true;
      held.get(uri)?.subscription[Symbol.dispose]();
      held.delete(uri);
    },
    has: (server, uri) => held.get(uri)?.server === server,
    close() {
      isClosed = true;
      for (const { subscription } of held.values()) subscription[Symbol.dispose]();
      held.clear();
    },
  };
}

const filters: ReadonlyMap<string, ListName> = new Map([
  ["toolsListChanged", "tools"],
  ["promptsListChanged", "prompts"],
  ["resourcesListChanged", "resources"],
]);
const subscriptionId = "io.modelcontextprotocol/subscriptionId";

/**
 * Answers `subscriptions/listen` of a modern client. Resolves when the client ends the request, or at once if the
 * gateway accepts none of its subscriptions.
 */
export async function listenToChanges(
  context: BridgeContext,
  call: ClientCall,
  params: JsonObject,
): Promise<JsonObject> {
  const { notifications } = params;
  if (!isObject(notifications)) throw rpcError(rpcCodes.invalidParams, "params.notifications must be an object");
  const { capabilities } = await greet(context, call.era);
  const lists = [...filters].filter(
    ([filter, list]) => notifications[filter] === true && member(capabilities[list], "listChanged") === true,
  );
  const wanted = listOf(notifications["resourceSubscriptions"]).filter((uri) => typeof uri === "string");
  const resources = createResourceSubscriptions(context);
  const isSubscribable = member(capabilities["resources"], "subscribe") === true;
  const opened = await Promise.allSettled(isSubscribable ? wanted.map((uri) => resources.add(call, uri)) : []);
  const honoured = wanted.filter((_, at) => opened[at]?.status === "fulfilled");

  const tell = (method: string, news: JsonObject = {}): void =>
    call.notify(method, { ...news, _meta: { [subscriptionId]: call.id } });
  tell("notifications/subscriptions/acknowledged", {
    notifications: {
      ...Object.fromEntries(lists.map(([filter]) => [filter, true])),
      ...(honoured.length > 0 && { resourceSubscriptions: honoured }),
    },
  });
  const { news } = context.hosts.shared;
  const names = new Set(lists.map(([, list]) => list));
  const stops = [
    news.onLists((list, server) => {
      if (names.has(list) && concerns(context, server)) tell(`notifications/${list}/list_changed`);
    }),
    news.onUpdated((server, uri) => {
      if (resources.has(server, uri)) tell("notifications/resources/updated", { uri });
    }),
  ];
  try {
    if (lists.length > 0 || honoured.length > 0) await aborted(call.signal);
  } finally {
    for (const stop of stops) stop();
    resources.close();
  }
  return { resultType: "complete", _meta: { [subscriptionId]: call.id } };
}

/** Whether a change of lists affects this client. `server` is undefined if several servers changed. */
export function concerns({ view }: BridgeContext, server: string | undefined): boolean {
  return server === undefined || view().servers.includes(server);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
