/** A server in memory, on the other side of a channel: a test says what it answers. */

import type { WireError } from "../../src/errors.ts";
import type { Channel, ChannelEvents, ChannelSendOptions, OpenChannel, RpcMessage } from "../../src/rpc/channel.ts";
import { openRpc, type Rpc, type RpcOptions } from "../../src/rpc/rpc.ts";
import { defaultLimits, defaultTimes, type WireTimes } from "../../src/target.ts";

/** What a message of a server in memory counts, in bytes. */
export const messageSize = 100;

export interface MemoryServer {
  readonly open: OpenChannel;
  /** Everything that the client sent, in order. */
  readonly sent: readonly RpcMessage[];
  readonly sendOptions: readonly (ChannelSendOptions | undefined)[];
  readonly versions: readonly string[];
  readonly closings: () => number;
  /** Sends messages to the client, all in one go. */
  say(...messages: RpcMessage[]): void;
  /** Sends a message on the stream of the request with this id. */
  sayAbout(id: number, message: RpcMessage): void;
  result(request: RpcMessage, result: unknown): void;
  error(request: RpcMessage, code: unknown, message?: string, data?: unknown): void;
  hangUp(cause?: WireError): void;
  /** The n-th message with this method, as soon as it has been sent. */
  heard(method: string, count?: number): Promise<RpcMessage>;
}

export interface MemoryServerOptions {
  readonly cancelBy?: Channel["cancelBy"];
  /** Called with every message of the client's; may answer or not. */
  readonly onMessage?: (message: RpcMessage, server: MemoryServer) => void;
  /** Rejects what it throws. */
  readonly onSend?: (message: RpcMessage) => void;
}

export function memoryServer({ cancelBy = "message", onMessage, onSend }: MemoryServerOptions = {}): MemoryServer {
  const sent: RpcMessage[] = [];
  const sendOptions: (ChannelSendOptions | undefined)[] = [];
  const versions: string[] = [];
  const waiting = new Set<() => void>();
  let events: ChannelEvents | undefined;
  let closings = 0;

  const server: MemoryServer = {
    open: async (given) => {
      events = given;
      return {
        cancelBy,
        async send(message, options) {
          onSend?.(message);
          sent.push(message);
          sendOptions.push(options);
          onMessage?.(message, server);
          for (const look of waiting) look();
        },
        setProtocolVersion: (version) => void versions.push(version),
        async close() {
          closings += 1;
          given.closed(undefined);
        },
      };
    },
    sent,
    sendOptions,
    versions,
    closings: () => closings,
    say(...messages) {
      for (const message of messages) events?.message(message, messageSize);
    },
    sayAbout: (id, message) => void events?.message(message, messageSize, id),
    result: ({ id }, result) => server.say({ jsonrpc: "2.0", id, result }),
    error: ({ id }, code, message = "no", data) => server.say({ jsonrpc: "2.0", id, error: { code, message, data } }),
    hangUp: (cause) => events?.closed(cause),
    heard: (method, count = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = sent.filter((message) => message["method"] === method)[count - 1];
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
  return server;
}

/** A server that answers every request with an empty result. */
export function obligingServer(options: Omit<MemoryServerOptions, "onMessage"> = {}): MemoryServer {
  return memoryServer({
    ...options,
    onMessage: (message, server) => void (message["id"] !== undefined && server.result(message, {})),
  });
}

/** Closed at the end of the scope: no request outlives its test. */
export interface OpenedRpc extends Rpc, AsyncDisposable {
  readonly server: MemoryServer;
  readonly diagnostics: string[];
}

export async function rpcTo(
  server: MemoryServer,
  { times, limits, ...options }: Partial<Omit<RpcOptions, "times">> & { times?: Partial<WireTimes> } = {},
): Promise<OpenedRpc> {
  const diagnostics: string[] = [];
  const rpc = await openRpc(
    server.open,
    {
      ...options,
      limits: { ...defaultLimits, ...limits },
      times: { ...defaultTimes, ...times },
      onDiagnostic: (text) => void diagnostics.push(text),
    },
    new AbortController().signal,
  );
  return { ...rpc, server, diagnostics, [Symbol.asyncDispose]: rpc.close };
}

/** The error that a promise is rejected with. */
export async function failure(promise: Promise<unknown>): Promise<WireError> {
  try {
    await promise;
  } catch (error) {
    return error as WireError;
  }
  throw new Error("it did not fail");
}
