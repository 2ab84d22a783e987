/**
 * Connects a relay to a server. A relay passes a client's messages on unchanged, also the handshake, so it works with
 * every protocol version.
 */

import { type ChannelOptions, channelFor } from "../attempt.ts";
import { standardHeaders } from "../eras/protocol.ts";
import { WireError } from "../errors.ts";
import type { Channel, ChannelEvents, ChannelSendOptions, RpcMessage } from "../rpc/channel.ts";
import { createReception } from "../rpc/reception.ts";
import { toWireError } from "../rpc/rpc-errors.ts";
import { isObject, member, objectOf, stringOf } from "../shapes/json.ts";
import { type ConnectOptions, defaultLimits, defaultTimes, type Target } from "../target.ts";
import { errorResponse, messageErrors } from "./message-errors.ts";
import { modernVersionOf } from "./modern-headers.ts";

/** Options of `openServerRelay`. */
export interface ServerRelayOptions
  extends Omit<ChannelOptions, "limits" | "times">,
    Pick<ConnectOptions, "onDiagnostic" | "onMessage" | "limits" | "times" | "signal"> {
  /** Called with each message of the server. If sending a request fails, called with an error response to it. */
  readonly onReceived: (message: RpcMessage) => void;
}

/** An open connection to a server that carries a client's messages unchanged. */
export interface ServerRelay {
  /** Sends a message. `headers` are its `Mcp-Param-…` headers, which stdio ignores. */
  send(message: RpcMessage, headers?: Readonly<Record<string, string>>): void;
  /** Resolves once, when the connection ends: with the cause, or with undefined after `close`. */
  readonly closed: Promise<WireError | undefined>;
  close(): Promise<void>;
}

const otherTransport: ReadonlySet<unknown> = new Set([400, 404, 405]);

/**
 * Starts the server's program, or opens the connection to its URL.
 * @throws WireError if the program cannot be started, or the connection cannot be opened
 */
export async function openServerRelay(target: Target, options: ServerRelayOptions): Promise<ServerRelay> {
  const limits = { ...defaultLimits, ...options.limits };
  const times = { ...defaultTimes, ...options.times };
  const { onMessage, onReceived, signal } = options;
  /** The client's open requests by id. The request and its response together show the protocol version. */
  const open = new Map<unknown, { readonly message: RpcMessage; readonly cancelled: AbortController }>();
  let settleClosed: (cause: WireError | undefined) => void = () => {};
  const closed = new Promise<WireError | undefined>((resolve) => {
    settleClosed = resolve;
  });

  function receive(message: RpcMessage): ReturnType<ChannelEvents["message"]> {
    onMessage?.("received", message);
    const isRequest = message["method"] !== undefined;
    if (!isRequest) noteVersion(message);
    onReceived(message);
    if (!isRequest) return undefined;
    return message["id"] === undefined ? "notifications" : "requests";
  }

  function noteVersion({ id, result }: RpcMessage): void {
    const request = open.get(id)?.message;
    open.delete(id);
    if (request === undefined || !isObject(result)) return;
    const version = request["method"] === "initialize" ? stringOf(result["protocolVersion"]) : modernVersionOf(request);
    if (version !== undefined) channel.setProtocolVersion(version);
  }

  async function openChannel(transport: Parameters<typeof channelFor>[1]): Promise<Channel> {
    const reception = createReception({ onDiagnostic: options.onDiagnostic, limits });
    const start = await channelFor(target, transport, { ...options, limits, times });
    const opened = await start(reception.events, signal);
    reception.attach({
      receive,
      largest: () => limits.messageBytes,
      dropped: () => options.onDiagnostic?.(`a message larger than ${limits.messageBytes} bytes was dropped`),
      end: (cause) => settleClosed(cause),
    });
    return opened;
  }

  let channel = await openChannel(target.kind === "stdio" ? "stdio" : target.kind === "sse" ? "sse" : "http");

  async function transmit(message: RpcMessage, headers: ChannelSendOptions["headers"]): Promise<void> {
    const signal = open.get(message["id"])?.cancelled.signal;
    try {
      await channel.send(message, { headers: { ...headersOf(message), ...headers }, signal });
    } catch (error) {
      const isOther = error instanceof WireError && otherTransport.has(error.evidence.httpStatus);
      // A server that refuses `initialize` over streamable HTTP may support only HTTP+SSE.
      const isLegacyStart = message["method"] === "initialize" && modernVersionOf(message) === undefined;
      if (!isOther || !isLegacyStart || target.kind !== "http-or-sse") throw error;
      channel = await openChannel("sse");
      await channel.send(message);
    }
  }

  /** If the message cancels a modern request over HTTP, closes that request's stream and returns true. */
  function cancelsStream({ method, params }: RpcMessage): boolean {
    const id = method === "notifications/cancelled" ? member(params, "requestId") : undefined;
    const request = open.get(id);
    if (request === undefined || target.kind === "stdio" || modernVersionOf(request.message) === undefined)
      return false;
    open.delete(id);
    request.cancelled.abort();
    return true;
  }

  return {
    send(message, headers) {
      onMessage?.("sent", message);
      if (cancelsStream(message)) return;
      if (message["method"] !== undefined && message["id"] !== undefined)
        open.set(message["id"], { message, cancelled: new AbortController() });
      transmit(message, headers).catch((error: unknown) => {
        if (!open.delete(message["id"])) return;
        const { message: words, evidence } = toWireError(error);
        const { code = messageErrors.internal, data } = evidence.rpc ?? {};
        const response = errorResponse(message["id"] as number, code, words, data);
        onMessage?.("received", response);
        onReceived(response);
      });
    },
    closed,
    async close() {
      await channel.close();
      settleClosed(undefined);
    },
  };
}

/** The modern protocol era requires these headers. Their values are also in the message. */
function headersOf(message: RpcMessage): Readonly<Record<string, string>> {
  const version = modernVersionOf(message);
  const method = stringOf(member(message, "method"));
  if (version === undefined || method === undefined) return {};
  return { "mcp-protocol-version": version, ...standardHeaders(method, objectOf(message["params"])) };
}
