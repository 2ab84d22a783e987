/** The resource subscriptions of one client, and the answer to `subscriptions/listen`. */

import type { ListName } from "@fairlead/core/events";
import type { ServerAddress } from "@fairlead/core/server";
import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, member } from "@fairlead/wire/json";
import type { ClientCall } from "../questions/client-call.ts";
import { askedClient } from "./asked-client.ts";
import type { BridgeContext } from "./bridge-context.ts";
import { greet } from "./greeting.ts";
import { rpcCodes, rpcError, toRpcError } from "./rpc-error.ts";
import { describesSkills } from "./skill-tool.ts";

/** Maximum number of resources that one client may subscribe to. */
const mostResources = 1024;

/** The resources that one client has subscribed to, by the URIs that the client uses. */
export interface ResourceSubscriptions {
  /**
   * Subscribes to a resource. Does nothing if the client has already subscribed.
   * @throws WireError with the JSON-RPC error for the client
   */
  add(call: ClientCall, uri: unknown): Promise<void>;
  remove(uri: unknown): void;
  close(): void;
}

/** A subscription that the server has not confirmed yet. */
interface OpeningSubscription extends ServerAddress {
  /** The client's address. */
  readonly as: string;
  isRemoved: boolean;
  /** The server may report a change before the gateway has read its confirmation. */
  isUpdated: boolean;
}

/**
 * Creates an empty set of subscriptions. `close` ends all of them.
 * @param onUpdated Called when a resource that the client subscribed to has changed.
 */
export function createResourceSubscriptions(
  context: BridgeContext,
  onUpdated: (uri: string) => void,
): ResourceSubscriptions {
  /** By the client's addresses. */
  const held = new Map<string, ServerAddress & { readonly subscription: Disposable }>();
  /** These count towards `mostResources`. */
  const opening = new Set<OpeningSubscription>();
  let isClosed = false;
  const stop = context.workspace.news.onUpdated((server, uri) => {
    for (const [as, one] of held) if (one.server === server && one.uri === uri) onUpdated(as);
    for (const begun of opening) if (begun.server === server && begun.uri === uri) begun.isUpdated = true;
  });

  return {
    async add(call, as) {
      if (typeof as === "string" && held.has(as)) return;
      if (held.size + opening.size >= mostResources)
        throw rpcError(rpcCodes.refused, `a client can subscribe to at most ${mostResources} resources`);
      const target = typeof as === "string" ? context.targetOf(as) : undefined;
      if (typeof as !== "string" || target === undefined)
        throw rpcError(rpcCodes.resourceNotFound, "no configured server lists this resource", { uri: as });
      const { server, uri } = target;
      const begun: OpeningSubscription = { server, uri, as, isRemoved: false, isUpdated: false };
      opening.add(begun);
      try {
        const { host } = context.workspace;
        const connection = await context.workspace.connectionOf(server, call.era);
        const subscription = await host.gateway.subscribe(server, uri, {
          signal: call.signal,
          client: context.client,
          connection,
          // A modern client cannot be asked during `subscriptions/listen`, so its user cannot confirm the subscription.
          confirm:
            call.era === "legacy"
              ? context.consent.port(askedClient(context, call), call.signal, host.gateway.identify(server))
              : undefined,
        });
        // Meanwhile the client may have subscribed again, unsubscribed or disconnected.
        if (isClosed || begun.isRemoved || held.has(as)) return subscription[Symbol.dispose]();
        held.set(as, { server, uri, subscription });
        if (begun.isUpdated) onUpdated(as);
      } catch (error) {
        throw toRpcError(error);
      } finally {
        opening.delete(begun);
      }
    },
    remove(as) {
      if (typeof as !== "string") return;
      for (const begun of opening) if (begun.as === as) begun.isRemoved = true;
      held.get(as)?.subscription[Symbol.dispose]();
      held.delete(as);
    },
    close() {
      isClosed = true;
      stop();
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
 * Answers `subscriptions/listen` of a modern client. Resolves when the client ends the request, when the gateway is
 * drained, or at once if the gateway accepts none of its subscriptions.
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
  const tell = (method: string, news: JsonObject = {}): void =>
    call.notify(method, { ...news, _meta: { [subscriptionId]: call.id } });
  /** Changes before the acknowledgement, which must be the first notification. Undefined after it. */
  let early: Map<string, () => void> | undefined = new Map();
  const tellInTurn = (method: string, news: JsonObject = {}): void => {
    if (early === undefined) tell(method, news);
    else early.set(JSON.stringify([method, news]), () => tell(method, news));
  };
  const names = new Set(lists.map(([, list]) => list));
  const stop = context.workspace.news.onLists((list, { server }) => {
    if (!concerns(context, server)) return;
    if (names.has(list)) tellInTurn(`notifications/${list}/list_changed`);
    if (list === "resources" && names.has("tools") && describesSkills(context))
      tellInTurn("notifications/tools/list_changed");
  });
  const resources = createResourceSubscriptions(context, (uri) =>
    tellInTurn("notifications/resources/updated", { uri }),
  );
  try {
    const isSubscribable = member(capabilities["resources"], "subscribe") === true;
    const opened = await Promise.allSettled(isSubscribable ? wanted.map((uri) => resources.add(call, uri)) : []);
    const honoured = wanted.filter((_, at) => opened[at]?.status === "fulfilled");
    tell("notifications/subscriptions/acknowledged", {
      notifications: {
        ...Object.fromEntries(lists.map(([filter]) => [filter, true])),
        resourceSubscriptions: honoured.length > 0 ? honoured : undefined,
      },
    });
    for (const told of early.values()) told();
    early = undefined;
    if (lists.length > 0 || honoured.length > 0) await aborted(call.signal, context.draining);
  } finally {
    stop();
    resources.close();
  }
  return { resultType: "complete", _meta: { [subscriptionId]: call.id } };
}

/** Whether a change of lists affects this client. `server` is undefined if several servers changed. */
export function concerns({ view }: BridgeContext, server: string | undefined): boolean {
  return server === undefined || view().servers.includes(server);
}

/** Resolves when the first of them is aborted. */
function aborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      for (const signal of signals) signal.removeEventListener("abort", end);
      resolve();
    };
    for (const signal of signals) signal.addEventListener("abort", end);
    if (signals.some((signal) => signal.aborted)) end();
  });
}
