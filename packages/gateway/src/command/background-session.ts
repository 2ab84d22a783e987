/**
 * A command's session with a server that runs in the background host. To the command's own host it is a session as any
 * other: the same results, questions and errors.
 */

import type { Socket } from "node:net";
import type { HostQuestion, OpenedSession, OpenOptions } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { FilteredCatalog, HostedServer } from "@fairlead/core/server";
import {
  type JsonObject,
  type McpRequestOptions,
  type NegotiatedProtocol,
  type RequestHandler,
  WireError,
} from "@fairlead/wire";
import { stringOf } from "@fairlead/wire/json";
import {
  defaultLimits,
  defaultTimes,
  type OpenChannel,
  openClientStdio,
  openRpc,
  type Rpc,
} from "@fairlead/wire/serve";
import type { ConsoleOptions } from "../console-port.ts";
import type { HostConnection } from "../relay/connect-host.ts";
import {
  askHostMethod,
  type ControlledServer,
  closedMethod,
  fromRpcFailure,
  identityDigest,
  type ListenRequest,
  listenHttpMethod,
  newAddressMethod,
  notifyMethod,
  type OpenedServer,
  openConsoleMethod,
  openMethod,
  otherServer,
  type PassedRequest,
  readError,
  restartMethod,
  stderrMethod,
  stopMethod,
} from "./session-messages.ts";

/** The background host applies the time limits of a request. If it does not answer at all, these milliseconds are added. */
const graceTime = 10_000;

/**
 * Opens the session of a server. With `isFresh`, the host reads the lists of a running server again. Resolves with undefined if the host's server of this name is another one.
 *
 * @throws HostError with the reason why the host could not connect the server; WireError if the host has ended
 */
export async function openBackgroundSession(
  host: HostConnection,
  { name, identity }: HostedServer,
  {
    signal,
    answering,
    onNotification,
    onStderrLine,
    greetingMeta,
    onHostQuestion,
    isFresh,
  }: OpenOptions & { readonly isFresh: boolean },
): Promise<OpenedSession | undefined> {
  let end: (cause: WireError | undefined) => void = () => {};
  const closed = new Promise<WireError | undefined>((resolve) => {
    end = resolve;
  });
  /** The server's notifications that came before the caller had the session; then undefined. */
  let early: [string, JsonObject][] | undefined = [];
  const rpc = await openRpc(openHostSocket(host), {
    limits: defaultLimits,
    times: defaultTimes,
    oneStream: true,
    onRequest: async (method, params, until, origin) => {
      if (method !== askHostMethod) return (answering?.onRequest ?? refuseQuestion)(method, params, until, origin);
      // The host of the same build has written it.
      return { outcome: await onHostQuestion?.(params as JsonObject & HostQuestion, until) };
    },
    onNotification(method, params) {
      if (method === stderrMethod) onStderrLine?.(stringOf(params["line"]) ?? "");
      else if (method === closedMethod) end(endOf(params["error"]));
      else if (early !== undefined) early.push([method, params]);
      else onNotification?.(method, params);
    },
  });
  void rpc.closed.then(end);
  try {
    const wanted = { server: name, identity: identityDigest(identity), isFresh, trace: greetingMeta };
    const answer = await send(rpc, openMethod, wanted, { signal, timeout: Number.POSITIVE_INFINITY });
    if (answer["isOther"] === otherServer.isOther) {
      await rpc.close();
      return undefined;
    }
    // The host of the same build has written it.
    const { peer, capabilities, catalog, hidden, counts } = answer as JsonObject & OpenedServer;
    const listed: FilteredCatalog = { catalog, hidden: new Map(hidden), offer: counts };
    setImmediate(() => {
      const missed = early ?? [];
      early = undefined;
      for (const news of missed) onNotification?.(...news);
    });
    return {
      era: peer.era,
      protocolVersion: peer.protocolVersion,
      serverInfo: peer.serverInfo,
      capabilities,
      instructions: catalog.instructions,
      protocol: peer.transport && ({ era: peer.era, transport: peer.transport } as NegotiatedProtocol),
      closed,
      request: (method, params, options = {}) => pass(rpc, method, params, options, answering?.capabilities ?? {}),
      notify: (method, params) => rpc.notify(notifyMethod, { method, params }),
      onNotification: rpc.onNotification,
      flushNotifications: rpc.flushNotifications,
      onRequest: rpc.onRequest,
      close: () => rpc.close(),
      explain: (error) => explained(error, name),
      listed,
    };
  } catch (error) {
    await rpc.close();
    throw error;
  }
}

/**
 * Disconnects a server that runs in the host, or connects it again. Resolves with whether it was running.
 *
 * @throws the reason why the server could not be connected again
 */
export async function controlServer(
  host: HostConnection,
  server: string,
  action: "stop" | "restart",
): Promise<boolean> {
  const rpc = await openRpc(openHostSocket(host), { limits: defaultLimits, times: defaultTimes, oneStream: true });
  try {
    const method = action === "stop" ? stopMethod : restartMethod;
    const answer = await send(rpc, method, { server }, { timeout: Number.POSITIVE_INFINITY });
    // The host of the same build has written it.
    const { wasRunning, error } = answer as JsonObject & ControlledServer;
    if (error !== undefined) throw readError(error);
    return wasRunning;
  } finally {
    await rpc.close();
  }
}

/** An address at which the host listens for HTTP clients. */
export interface HostListener {
  readonly url: string;
  /** Resolves when the host has ended, or after `close`. */
  readonly closed: Promise<unknown>;
  close(): Promise<void>;
}

/** Makes the host listen for HTTP clients until `close`. */
export async function listenInBackground(host: HostConnection, request: ListenRequest): Promise<HostListener> {
  const rpc = await openRpc(openHostSocket(host), { limits: defaultLimits, times: defaultTimes, oneStream: true });
  try {
    const { url } = await send(rpc, listenHttpMethod, { ...request });
    return { url: stringOf(url) ?? "", closed: rpc.closed, close: () => rpc.close() };
  } catch (error) {
    await rpc.close();
    throw error;
  }
}

/** A console that the host has opened. */
export interface HostConsole {
  /** The first one-time address. */
  readonly address: string;
  /** Returns another one-time address. */
  newAddress(): Promise<string>;
  /** Resolves when the host has ended, or after `close`. */
  readonly closed: Promise<unknown>;
  close(): Promise<void>;
}

/** Makes the host open a console of the command's workspace until `close`. */
export async function openConsoleInBackground(host: HostConnection, options: ConsoleOptions): Promise<HostConsole> {
  const rpc = await openRpc(openHostSocket(host), { limits: defaultLimits, times: defaultTimes, oneStream: true });
  const addressOf = async (method: string, params: JsonObject): Promise<string> =>
    stringOf((await send(rpc, method, params))["address"]) ?? "";
  try {
    return {
      address: await addressOf(openConsoleMethod, { ...options }),
      newAddress: () => addressOf(newAddressMethod, {}),
      closed: rpc.closed,
      close: () => rpc.close(),
    };
  } catch (error) {
    await rpc.close();
    throw error;
  }
}

/** Sends a request to the server, with the limits and the capabilities of the command. */
function pass(
  rpc: Rpc,
  method: string,
  params: JsonObject | undefined,
  options: McpRequestOptions,
  usual: JsonObject,
): Promise<JsonObject> {
  const { signal, stop, timeout, total, onProgress, onSize, maxBytes, beforeSend } = options;
  const { asTask, meta, logLevel, input, tasks, capabilities = usual } = options;
  const passed: PassedRequest = {
    params,
    options: { timeout, total, maxBytes, asTask, meta, logLevel, input, tasks, capabilities },
  };
  return send(
    rpc,
    method,
    { ...passed },
    {
      signal,
      stop,
      timeout: timeout === undefined ? Number.POSITIVE_INFINITY : timeout + graceTime,
      onProgress,
      onSize,
      maxBytes,
      beforeSend,
      token: true,
    },
  );
}

async function send(rpc: Rpc, ...request: Parameters<Rpc["request"]>): Promise<JsonObject> {
  try {
    return await rpc.request(...request);
  } catch (error) {
    throw fromRpcFailure(error);
  }
}

const refuseQuestion: RequestHandler = async (method) => {
  throw new WireError("rpc", `${method.slice(0, 100)} is not supported`, { rpc: { code: -32601 } });
};

/** Why the session has ended, as the host says it; undefined if it was closed on purpose. */
function endOf(written: unknown): WireError | undefined {
  const cause = readError(written);
  return cause && new WireError("closed", cause.message, {}, { cause });
}

/** The error for the end of a session: the host's own words, or that the host itself has ended. */
function explained(error: unknown, serverName: string): HostError {
  if (error instanceof HostError) return error;
  const { cause } = error instanceof Error ? error : {};
  if (cause instanceof HostError) return cause;
  return new HostError("unreachable", "the background host has ended", {
    serverName,
    cause: error,
    next: "fairlead daemon logs",
  });
}

/** The channel to the host. If the host ends, open requests fail with this error. */
function openHostSocket({ socket, rest }: HostConnection): OpenChannel {
  return async (events, signal) => {
    const reportLoss = (): void => events.closed(new WireError("closed", "the background host has ended"));
    // Before the channel's own listeners: they would answer the open requests themselves.
    for (const event of ["end", "error", "close"]) socket.prependOnceListener(event, reportLoss);
    socket.on("error", () => socket.destroy());
    const channel = await openClientStdio({ input: socket, output: socket }, { limits: defaultLimits })(events, signal);
    if (rest.length > 0) socket.unshift(rest);
    socket.resume();
    return {
      ...channel,
      async close() {
        await channel.close();
        await ended(socket);
      },
    };
  };
}

/** Resolves when everything is written and the socket is closed. */
async function ended(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  await new Promise<void>((resolve) => socket.end(resolve));
  socket.destroy();
}
