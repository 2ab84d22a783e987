/**
 * Combines the modern requests of an HTTP listener into one client, because a server with state needs one connection
 * for all of them.
 */

import type { Channel, ChannelEvents, OpenChannel, RequestId, RpcMessage } from "../rpc/channel.ts";
import { isObject, listOf, member, objectOf, stringOf } from "../shapes/json.ts";

/** One client for the server, although its requests come over many HTTP connections. */
export interface ModernClients {
  /** Adds a request. `open` is what `onClient` got for this request. */
  readonly add: (open: OpenChannel) => void;
  /** Returns the input schema of a tool, if the server has listed the tool. */
  readonly schemaOf: (tool: string) => unknown;
}

/** The `_meta` member with the id of the `subscriptions/listen` request that a notification belongs to. */
const subscriptionKey = "io.modelcontextprotocol/subscriptionId";
/**
 * Maximum number of tools whose input schemas are kept. For further tools, the `mcp-param-…` headers are not checked.
 */
const mostTools = 10_000;

interface OpenRequest {
  readonly id: RequestId;
  readonly method: unknown;
  readonly progressToken: unknown;
  readonly channel: Promise<Channel>;
}

type Arrival = Parameters<ChannelEvents["message"]>;

/**
 * Creates the combined client.
 *
 * @param serve Serves the combined client. Called for the first request, and again after its promise has ended.
 */
export function createModernClients(serve: (open: OpenChannel) => Promise<void>): ModernClients {
  /** Keys are new ids, because requests from different HTTP connections may have the same id. */
  const requests = new Map<RequestId, OpenRequest>();
  const schemas = new Map<string, unknown>();
  let early: Arrival[] = [];
  let events: ChannelEvents | undefined;
  let isServing = false;
  let lastId = 0;

  function start(): void {
    isServing = true;
    let isOpened = false;
    const ended = (): void => {
      // If `serve` ended without opening the channel, no server can answer the requests.
      if (!isOpened) endAll();
      events = undefined;
      isServing = false;
      if (early.length > 0) start();
    };
    serve((given) => {
      isOpened = true;
      return open(given);
    }).then(ended, ended);
  }

  function endAll(): void {
    early = [];
    for (const { channel } of requests.values()) void channel.then((opened) => opened.close());
    requests.clear();
  }

  function deliver(...arrival: Arrival): void {
    // While earlier messages wait, this one waits behind them.
    if (events !== undefined && early.length === 0) return void events.message(...arrival);
    early.push(arrival);
    if (!isServing) start();
  }

  function add(openRequest: OpenChannel): void {
    lastId += 1;
    const id = lastId;
    const channel = openRequest({
      message(message, size, _about, headers) {
        const params = objectOf(message["params"]);
        const meta = objectOf(params["_meta"]);
        const { progressToken } = meta;
        requests.set(id, { id: message["id"] as RequestId, method: message["method"], progressToken, channel });
        const renamed = progressToken === undefined ? params : { ...params, _meta: { ...meta, progressToken: id } };
        deliver({ ...message, id, params: renamed }, size, undefined, headers);
        return undefined;
      },
      closed() {
        // The client closed its connection before the response, so the request is cancelled.
        if (!requests.delete(id)) return;
        early = early.filter(([message]) => message["id"] !== id);
        const params = { requestId: id };
        if (events !== undefined) deliver({ jsonrpc: "2.0", method: "notifications/cancelled", params }, 0);
      },
      largest: () => Number.POSITIVE_INFINITY,
      dropped() {},
      diagnostic() {},
    });
  }

  function respond(id: RequestId, message: RpcMessage): void {
    const request = requests.get(id);
    if (request === undefined) return;
    requests.delete(id);
    if (request.method === "tools/list") noteSchemas(message);
    send(request, { ...message, id: request.id });
  }

  function noteSchemas({ result }: RpcMessage): void {
    for (const tool of listOf(member(result, "tools"))) {
      const name = stringOf(member(tool, "name"));
      if (name !== undefined && (schemas.size < mostTools || schemas.has(name)))
        schemas.set(name, member(tool, "inputSchema"));
    }
  }

  const shared: Channel = {
    cancelBy: "message",
    async send(message, { about } = {}) {
      if (message["method"] === undefined) return respond(message["id"] as RequestId, message);
      const request = about === undefined ? undefined : requests.get(about);
      if (request !== undefined) send(request, asRequested(message, request));
    },
    setProtocolVersion() {
      // Nothing to do: each request of the client contains the protocol version.
    },
    async close() {
      endAll();
      const closing = events;
      events = undefined;
      closing?.closed(undefined);
    },
  };

  const open: OpenChannel = async (given) => {
    events = given;
    // A handler may answer at once, so early messages are delivered only after `open` has returned the channel.
    queueMicrotask(() => {
      for (const arrival of early.splice(0)) given.message(...arrival);
    });
    return shared;
  };

  return { add, schemaOf: (tool) => schemas.get(tool) };
}

function send({ channel }: OpenRequest, message: RpcMessage): void {
  // If the client has closed its connection, sending fails. `closed` then handles it.
  channel.then((opened) => opened.send(message)).catch(() => undefined);
}

/** Puts the client's own progress token and request id back into the server's message. */
function asRequested(message: RpcMessage, { id, progressToken }: OpenRequest): RpcMessage {
  if (!isObject(message["params"])) return message;
  const params = { ...message["params"] };
  const { _meta: meta } = params;
  if (params["progressToken"] !== undefined && progressToken !== undefined) params["progressToken"] = progressToken;
  if (isObject(meta) && meta[subscriptionKey] !== undefined) params["_meta"] = { ...meta, [subscriptionKey]: id };
  return { ...message, params };
}
