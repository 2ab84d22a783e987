/** Listens for MCP clients over streamable HTTP, in both protocol eras. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { RpcMessage } from "../rpc/channel.ts";
import { systemTime, type TimeSource } from "../rpc/time.ts";
import { closing, type HttpAdmission, type HttpEntry, refuse } from "./http-admission.ts";
import { createHttpFace, type HttpFaceOptions } from "./http-face.ts";
import { defaultHttpLimits, defaultHttpTimes, type HttpLimits, type HttpTimes } from "./http-limits.ts";
import { createHttpOwners } from "./http-owners.ts";
import { answerEmpty } from "./post-answer.ts";
import { createUnusedConnections } from "./unused-connections.ts";

/** A path of the listener that is not MCP. */
export interface HttpPage {
  /** Whether a request may have any `Host` and `Origin`. Only for what everybody may read, such as the state of health. */
  readonly anyHost?: boolean;
  /** Answers the request. If it fails, the client gets the status 500. */
  readonly take: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
}

/** The names by which a listener may be called. */
export interface HttpNames {
  /** Values of the header `Host`, such as `mcp.example.com`. */
  readonly hosts: readonly string[];
  /** Values of the header `Origin`, which browsers send, such as `https://mcp.example.com`. */
  readonly origins: readonly string[];
}

/** Options of `listenHttp`. */
export interface HttpListenerOptions<Context = undefined> extends HttpFaceOptions<Context> {
  /**
   * Accepts or refuses each request before its body is read. Default: accepts all requests to `path`, with one owner.
   */
  readonly admit?: (entry: HttpEntry) => HttpAdmission<Context> | Promise<HttpAdmission<Context>>;
  /** Returns what answers requests to a path that is not MCP, or undefined. Asked before `admit`. */
  readonly pageAt?: (path: string) => HttpPage | undefined;
  /** The IP address to listen on. Default: 127.0.0.1. */
  readonly address?: string;
  /** The port to listen on. Default: any free port. */
  readonly port?: number;
  /** The names by which the listener may be called besides those of the loopback address with its port. */
  readonly names?: HttpNames;
  /** The path in `url`. Default: `/mcp`. */
  readonly path?: string;
  readonly limits?: Partial<HttpLimits>;
  readonly times?: Partial<HttpTimes>;
  /** The clock. Default: the system's clock. */
  readonly time?: TimeSource;
}

/** A listening server. */
export interface HttpListener {
  readonly url: string;
  /**
   * Gives a session a message that the client has sent to another process. Returns false if this process has no such
   * session.
   */
  deliver(sessionId: string, message: RpcMessage): boolean;
  /** Whether this process has the session open. */
  has(sessionId: string): boolean;
  /** Ends a session that the client has ended at another process. */
  end(sessionId: string): void;
  /** From now on each response ends its connection, so that clients go elsewhere. */
  beginDrain(): void;
  /** Takes no further connections, and ends streams of sessions. Open requests go on until `close`. */
  stopAccepting(): void;
  /** Ends all sessions and stops listening. */
  close(): Promise<void>;
}

const loopback = "127.0.0.1";
/** For a request whose headers `Host` or `Origin` name another address, as those of a web page do. */
const foreignMessage =
  "the headers Host and Origin of a request must name this server, for example localhost with its port; send the request from a program on this machine, not from a web page or through a proxy that keeps another Host";
const foreignTeamMessage =
  "the headers Host and Origin of a request must name this server; if a proxy before it sets another Host, let the proxy keep the Host of the client";

/**
 * Starts listening.
 *
 * @throws Error if the port is in use
 */
export async function listenHttp<Context = undefined>(options: HttpListenerOptions<Context>): Promise<HttpListener> {
  const { path = "/mcp", time = systemTime, address = loopback, names } = options;
  const limits = { ...defaultHttpLimits, ...options.limits };
  const times = { ...defaultHttpTimes, ...options.times };
  const owners = createHttpOwners(limits, time.now, options.sessions?.process);
  const face = createHttpFace(options);
  const admit =
    options.admit ??
    ((entry: HttpEntry): HttpAdmission<Context> =>
      entry.path === path ? { owner: "", context: undefined as Context } : { status: 404 });
  let ownPort = 0;
  let isDraining = false;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method } = request;
    const at = pathOf(request);
    const page = options.pageAt?.(at);
    if (page?.anyHost === true) return page.take(request, response);
    // Browsers send OPTIONS to ask whether a web page may send a request. Web pages may not.
    if (method === "OPTIONS") return answerEmpty(response, 403);
    if (page === undefined && method !== "POST" && method !== "GET" && method !== "DELETE")
      return answerEmpty(response, 405, { allow: "POST, GET, DELETE" });
    if (!namesListener(request, ownPort, names))
      return refuse(response, { status: 403, message: names === undefined ? foreignMessage : foreignTeamMessage });
    if (page !== undefined) return page.take(request, response);
    const entry = { path: at, headers: request.headers, remoteAddress: request.socket.remoteAddress };
    const admission = admit(entry);
    const admitted = admission instanceof Promise ? await admission : admission;
    if ("status" in admitted) return refuse(response, admitted);
    const owner = owners.get(admitted.owner);
    if (method !== "POST") return face.takeOther(request, response, owner, admitted);
    if (!/^application\/json\b/i.test(request.headers["content-type"] ?? ""))
      return answerEmpty(response, 415, closing);
    if (declaresMore(request, limits.bodyBytes)) return answerEmpty(response, 413, closing);
    readBody(request, limits.bodyBytes, (text) => {
      if (text === undefined) return answerEmpty(response, 413, closing);
      guarded(response, () => face.takePost({ text, headers: request.headers }, response, owner, admitted));
    });
  }

  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: times.receive,
      requestTimeout: times.receive,
      connectionsCheckingInterval: Math.min(1000, times.receive),
      keepAliveTimeout: 30_000,
    },
    (request, response) => {
      const { socket } = request;
      if (isDraining) response.setHeader("connection", "close");
      unused.remove(socket);
      response.once("close", () => unused.add(socket));
      response.setTimeout(times.unread, () => {
        if (response.writableLength > 0) response.destroy();
      });
      guarded(response, () => handle(request, response));
    },
  );
  const unused = createUnusedConnections({ most: limits.unusedConnections });
  server.on("connection", (socket) => {
    unused.add(socket);
    socket.once("close", () => unused.remove(socket));
  });
  ownPort = await bind(server, options.port ?? 0, address);

  let callOff = time.after(times.keepAlive, sweep, { background: true });
  function sweep(): void {
    owners.sweep(time.now() - times.idle);
    callOff = time.after(times.keepAlive, sweep, { background: true });
  }

  return {
    beginDrain() {
      isDraining = true;
    },
    stopAccepting() {
      isDraining = true;
      server.close();
      owners.endStreams();
    },
    has: (id) => owners.sessionsWith(id).length > 0,
    end(id) {
      for (const session of owners.sessionsWith(id)) session.end();
    },
    deliver: (id, message) => owners.sessionsWith(id).filter((session) => session.take(message, 0)).length > 0,
    url: `http://${address.includes(":") ? `[${address}]` : address}:${ownPort}${path}`,
    async close() {
      callOff();
      owners.end();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An exception in `take` fails only this request, with status 500. */
function guarded(response: ServerResponse, take: () => void | Promise<void>): void {
  const fail = (): void => {
    if (response.headersSent) response.destroy();
    else answerEmpty(response, 500, closing);
  };
  try {
    const taking = take();
    if (taking instanceof Promise) taking.catch(fail);
  } catch {
    fail();
  }
}

async function bind(server: Server, port: number, address: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const isUsed = cause.code === "EADDRINUSE";
      reject(isUsed ? new Error(`port ${port} is in use by another program`, { cause }) : cause);
    });
    server.listen(port, address, resolve);
  });
  // A connection that cannot be accepted, for example because no file descriptor is free, is the client's loss only.
  server.removeAllListeners("error").on("error", () => {});
  return (server.address() as AddressInfo).port;
}

/** Whether the request's `Content-Length` is larger than the limit. */
export function declaresMore({ headers }: IncomingMessage, limit: number): boolean {
  return Number(headers["content-length"] ?? 0) > limit;
}

/**
 * Reads the body, and calls `done` with its text. If the body is larger than the limit, calls `done(undefined)` at
 * once.
 */
export function readBody(request: IncomingMessage, limit: number, done: (text: string | undefined) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  function onData(chunk: Buffer): void {
    size += chunk.length;
    if (size <= limit) {
      chunks.push(chunk);
      return;
    }
    chunks.length = 0;
    request.off("data", onData).off("end", onEnd).pause();
    done(undefined);
  }
  function onEnd(): void {
    const [first] = chunks;
    done((chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size)).toString("utf8"));
  }
  // After a connection error, `done` is not called, because the client can no longer receive a response.
  request
    .on("data", onData)
    .on("end", onEnd)
    .on("error", () => {});
}

/**
 * Whether the headers `Host` and `Origin` name this listener. A web page could otherwise reach it by DNS rebinding: the
 * page's own host name resolves to the loopback address.
 */
export function namesListener({ headers }: IncomingMessage, port: number, names?: HttpNames): boolean {
  const { host, origin } = headers;
  const isHost = isOwn(host, port) || names?.hosts.includes(host?.toLowerCase() ?? "") === true;
  if (!isHost || origin === undefined) return isHost;
  return (origin.startsWith("http://") && isOwn(origin.slice(7), port)) || names?.origins.includes(origin) === true;
}

function isOwn(host = "", port: number): boolean {
  const [name, given = "80"] = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?$/i.exec(host) ?? [];
  return name !== undefined && Number(given) === port;
}

/** Returns the path of a request, without its query. */
export function pathOf({ url = "/" }: IncomingMessage): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}
