/**
 * Passes messages between a client and a server. `run.ts` decides about calls, reads, prompts and subscriptions, and
 * records them. It refuses completions of what the rules deny.
 */

import type { JsonObject } from "@fairlead/wire";
import { isObject, listOf, member, objectOf, stringOf } from "@fairlead/wire/json";
import type { Channel, ChannelEvents, OpenChannel, RequestId, RpcMessage } from "@fairlead/wire/serve";
import type { OpenedRelay, RelayOptions } from "../connect/open-relay.ts";
import { HostError } from "../errors.ts";
import { subscriptionKey } from "../recordings/scripts.ts";
import { type AskedRequest, completedSubject, type DecidedMethod, decidedMethods, type Request } from "./request.ts";

/** The parts of the host that a relay uses. */
export interface RelayContext {
  readonly relay: (options: RelayOptions) => Promise<OpenedRelay>;
  /** Runs a request of the client, or refuses it. */
  readonly run: (request: Request<RpcMessage>) => Promise<RpcMessage>;
  /** Rejects if a rule denies the request, which is not run. */
  readonly ask: (request: AskedRequest) => Promise<unknown>;
  readonly signal: AbortSignal;
  /** Whether the settings let the server learn the client's folders. */
  readonly mayHaveRoots: () => boolean;
}

/** The JSON-RPC error code for a request that a rule refuses. */
const refused = -32000;

/** A listener for a client's channel that ignores all events. */
const ignored: ChannelEvents = {
  message: () => undefined,
  largest: () => 64 * 1024 * 1024,
  dropped() {},
  closed() {},
  diagnostic() {},
};

/**
 * Passes a client's messages to a server and back. Resolves when the client has disconnected.
 *
 * @throws HostError if the server could not be reached or has ended
 */
export async function relayClient(
  server: string,
  open: OpenChannel,
  { relay, run, ask, signal, mayHaveRoots }: RelayContext,
): Promise<void> {
  /** Requests that were sent to the server and wait for its response. */
  const pending = new Map<RequestId, (message: RpcMessage) => void>();
  /** Progress tokens of the client's open requests, by request id. The latest request comes last. */
  const tokens = new Map<RequestId, unknown>();
  /** Cancels the client's requests that are being decided or wait for the server, by request id. */
  const stops = new Map<RequestId, AbortController>();
  const clientGone = createSettled();
  let channel: Promise<Channel> | undefined;

  const isRootless = (): boolean => !mayHaveRoots();

  function toClient(message: RpcMessage): void {
    const about = message["method"] === undefined ? undefined : requestOf(message);
    if (message["method"] === undefined) tokens.delete(message["id"] as RequestId);
    channel?.then((opened) => opened.send(message, { about })).catch(() => clientGone.settle());
  }

  /**
   * Finds the client's request that a server's message is about: by subscription id or progress token, otherwise the
   * latest request.
   */
  function requestOf(message: RpcMessage): RequestId | undefined {
    const { progressToken, _meta } = objectOf(message["params"]);
    const subscription = member(_meta, subscriptionKey) as RequestId;
    if (tokens.has(subscription)) return subscription;
    const open = [...tokens];
    const named = progressToken === undefined ? undefined : open.find(([, token]) => token === progressToken);
    return (named ?? open.at(-1))?.[0];
  }

  const upstream = await relay({
    signal,
    onReceived(given) {
      const message = isRootless() ? withoutRootsResult(given) : given;
      if (isRootless() && isRootsRequest(message)) {
        upstream.send({ jsonrpc: "2.0", id: message["id"], error: { code: refused, message: rootsRefused } });
        return;
      }
      const waiting = message["method"] === undefined ? pending.get(message["id"] as RequestId) : undefined;
      if (waiting === undefined) toClient(message);
      else waiting(message);
    },
  }).catch(async (error: unknown) => {
    // The client must not wait for a server that cannot be reached, so its channel is closed at once.
    await (await open(ignored, signal)).close();
    throw error;
  });

  function fromClient(given: RpcMessage, _size: number, _about?: number, headers?: RequestHeaders): undefined {
    const message = isRootless() ? withoutRootsCapability(given) : given;
    if (isRootless() && message["method"] === "notifications/roots/list_changed") return;
    const isRequest = message["method"] !== undefined && message["id"] !== undefined;
    if (isRequest)
      tokens.set(message["id"] as RequestId, member(objectOf(message["params"])["_meta"], "progressToken"));
    const { method } = message;
    const decide = decisionOf(method);
    // Without an id, the rules could not answer it, so such a message is not passed on.
    if (decide !== undefined && !isRequest) return;
    if (method === "notifications/cancelled") {
      const cancelled = objectOf(message["params"])["requestId"] as RequestId;
      tokens.delete(cancelled);
      stops.get(cancelled)?.abort();
    }
    const sent = { id: message["id"] as RequestId, message, headers };
    if (decide === undefined) upstream.send(message, headers);
    else void answer(sent, (until) => decide(sent, until));
  }

  /** How the rules decide about a method before it is sent. Undefined if they do not. */
  function decisionOf(method: unknown): ((sent: Sent, until: AbortSignal) => Promise<void>) | undefined {
    if (method === "completion/complete") return complete;
    if (method === "subscriptions/listen") return listen;
    // Who may read a resource may also subscribe to it.
    const decided = decidedMethods.get(method === "resources/subscribe" ? "resources/read" : method);
    return decided && ((sent, until) => request(sent, decided, until));
  }

  /** Does the work of one request of the client. The client gets its refusal as an error. */
  async function answer({ id }: Sent, work: (until: AbortSignal) => Promise<void>): Promise<void> {
    const stop = new AbortController();
    stops.set(id, stop);
    try {
      await work(AbortSignal.any([signal, stop.signal]));
    } catch (error) {
      // A cancelled request gets no response.
      if (!(error instanceof HostError) || error.code === "cancelled") return;
      const { code, message: words, next } = error;
      const data = { code, next };
      toClient({ jsonrpc: "2.0", id, error: { code: refused, message: words, data } });
    } finally {
      if (stops.get(id) === stop) stops.delete(id);
    }
  }

  async function request(sent: Sent, { kind, named }: DecidedMethod, until: AbortSignal): Promise<void> {
    const params = objectOf(sent.message["params"]);
    const args = objectOf(params["arguments"]);
    const response = await run({
      ...asUser({ kind, serverToolName: stringOf(params[named]) ?? "", args }),
      signal: until,
      target: {
        kind: "direct",
        send: (open) => exchange(sent, open),
        isError: ({ error, result }) => error !== undefined || (isObject(result) && result["isError"] === true),
      },
    });
    toClient(response);
  }

  /** If a rule asks for confirmation, the completion runs anyway, as it does for clients of the gateway. */
  async function complete({ message, headers }: Sent, until: AbortSignal): Promise<void> {
    const subject = completedSubject(objectOf(message["params"]));
    if (subject === undefined)
      throw new HostError("usage", "completion/complete refused: ref names no prompt and no resource", {
        serverName: server,
      });
    await ask(asUser({ ...subject, args: {} }));
    if (!until.aborted) upstream.send(message, headers);
  }

  /** Leaves out the resources that the client may not read. The server's acknowledgement names the others. */
  async function listen({ message, headers }: Sent, until: AbortSignal): Promise<void> {
    const params = objectOf(message["params"]);
    const notifications = objectOf(params["notifications"]);
    const resourceSubscriptions: string[] = [];
    for (const uri of listOf(notifications["resourceSubscriptions"])) {
      if (typeof uri !== "string") continue;
      const subject = asUser({ kind: "resource", serverToolName: uri, args: {} });
      try {
        await run({ ...subject, signal: until, target: { kind: "direct", send: async () => message } });
        resourceSubscriptions.push(uri);
      } catch (error) {
        if (!(error instanceof HostError) || error.code === "cancelled") throw error;
      }
    }
    if (until.aborted) return;
    const isForResources = notifications["resourceSubscriptions"] !== undefined;
    const allowed = { ...params, notifications: { ...notifications, resourceSubscriptions } };
    upstream.send(isForResources ? { ...message, params: allowed } : message, headers);
  }

  function asUser(subject: Pick<Request, "kind" | "serverToolName" | "args">): AskedRequest {
    const identity = { serverName: server, ...subject };
    return { who: "user", ...identity, shown: { ...identity, name: subject.serverToolName, description: "" } };
  }

  function exchange({ id, message, headers }: Sent, until: AbortSignal): Promise<RpcMessage> {
    return new Promise((resolve, reject) => {
      const cancel = (): void =>
        settle(() => reject(new HostError("cancelled", "the client cancelled the request", { serverName: server })));
      const settle = (end: () => void): void => {
        pending.delete(id);
        until.removeEventListener("abort", cancel);
        end();
      };
      if (until.aborted) return cancel();
      until.addEventListener("abort", cancel, { once: true });
      pending.set(id, (answer) => settle(() => resolve(answer)));
      upstream.send(message, headers);
    });
  }

  try {
    channel = open({ ...ignored, message: fromClient, closed: () => clientGone.settle() }, signal);
    await channel;
    const stop = (): void => clientGone.settle();
    signal.addEventListener("abort", stop, { once: true });
    const end = await Promise.race([clientGone.promise, upstream.closed]);
    signal.removeEventListener("abort", stop);
    if (end !== undefined) throw end;
  } finally {
    for (const stop of stops.values()) stop.abort();
    await upstream.close();
    await channel?.then((opened) => opened.close());
  }
}

const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
const rootsMethod = "roots/list";
const rootsRefused = "roots/list refused: the settings do not let this server learn the client's folders";

function isRootsRequest(message: unknown): boolean {
  return member(message, "method") === rootsMethod;
}

/** Removes `roots` from the capabilities of the client, which are in `initialize` or in the `_meta` of each request. */
function withoutRootsCapability(message: RpcMessage): RpcMessage {
  const params = objectOf(message["params"]);
  const meta = objectOf(params["_meta"]);
  const isDeclared = member(params["capabilities"], "roots") ?? member(meta[capabilitiesKey], "roots");
  if (isDeclared === undefined) return message;
  return {
    ...message,
    params: {
      ...params,
      ...(isObject(params["capabilities"]) && { capabilities: withoutRoots(params["capabilities"]) }),
      ...(isObject(meta[capabilitiesKey]) && {
        _meta: { ...meta, [capabilitiesKey]: withoutRoots(meta[capabilitiesKey]) },
      }),
    },
  };
}

function withoutRoots({ roots: _roots, ...others }: JsonObject): JsonObject {
  return others;
}

/** A modern server asks for roots in its result. Such a result becomes an error. */
function withoutRootsResult(message: RpcMessage): RpcMessage {
  const asked = objectOf(member(message["result"], "inputRequests"));
  if (!Object.values(asked).some(isRootsRequest)) return message;
  return { jsonrpc: "2.0", id: message["id"], error: { code: refused, message: rootsRefused } };
}

type RequestHeaders = Parameters<OpenedRelay["send"]>[1];

interface Sent {
  readonly id: RequestId;
  readonly message: RpcMessage;
  readonly headers: RequestHeaders;
}

function createSettled(): { readonly promise: Promise<undefined>; readonly settle: () => void } {
  let settle: () => void = () => {};
  const promise = new Promise<undefined>((resolve) => {
    settle = () => resolve(undefined);
  });
  return { promise, settle };
}
