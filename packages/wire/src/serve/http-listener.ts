/** Listens for MCP clients over streamable HTTP on the loopback address, in both protocol eras. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { systemTime, type TimeSource } from "../rpc/time.ts";
import { createHttpFace, type HttpFaceOptions } from "./http-face.ts";
import { defaultHttpLimits, defaultHttpTimes, type HttpLimits, type HttpTimes } from "./http-limits.ts";
import { createHttpOwners } from "./http-owners.ts";
import { errorResponse, messageErrors } from "./message-errors.ts";
import { answerEmpty, answerJson } from "./post-answer.ts";
import { createUnusedConnections } from "./unused-connections.ts";

/** The parts of an HTTP request that `admit` gets. */
export interface HttpEntry {
  readonly path: string;
  readonly authorization: string | undefined;
}

/**
 * What `admit` returns: an HTTP status to refuse the request, or the owner and context to accept it. `onClient` gets
 * the context.
 */
export type HttpAdmission<Context> =
  | {
      readonly status: 401 | 403 | 404;
      /** The reason and what to do about it, for the body of the response. Default: no body. */
      readonly message?: string;
    }
  | { readonly owner: string; readonly context: Context };

/** Options of `listenHttp`. */
export interface HttpListenerOptions<Context = undefined> extends HttpFaceOptions<Context> {
  /**
   * Accepts or refuses each request before its body is read. Default: accepts all requests to `path`, with one owner.
   */
  readonly admit?: (entry: HttpEntry) => HttpAdmission<Context>;
  /** The port to listen on. Default: any free port. */
  readonly port?: number;
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
  /** Ends all sessions and stops listening. */
  close(): Promise<void>;
}

const loopback = "127.0.0.1";
/** For a request whose headers `Host` or `Origin` name another address, as those of a web page do. */
const foreignMessage =
  "the headers Host and Origin of a request must name this server, for example localhost with its port; send the request from a program on this machine, not from a web page or through a proxy that keeps another Host";

/**
 * Starts listening on 127.0.0.1.
 *
 * @throws Error if the port is in use
 */
export async function listenHttp<Context = undefined>(options: HttpListenerOptions<Context>): Promise<HttpListener> {
  const { path = "/mcp", time = systemTime } = options;
  const limits = { ...defaultHttpLimits, ...options.limits };
  const times = { ...defaultHttpTimes, ...options.times };
  const owners = createHttpOwners(limits, time.now);
  const face = createHttpFace(options);
  const admit =
    options.admit ??
    ((entry: HttpEntry): HttpAdmission<Context> =>
      entry.path === path ? { owner: "", context: undefined as Context } : { status: 404 });
  let ownPort = 0;

  function handle(request: IncomingMessage, response: ServerResponse) {
    const { method } = request;
    // Browsers send OPTIONS to ask whether a web page may send a request. Web pages may not.
    if (method === "OPTIONS") return answerEmpty(response, 403);
    if (method !== "POST" && method !== "GET" && method !== "DELETE")
      return answerEmpty(response, 405, { allow: "POST, GET, DELETE" });
    if (!namesListener(request, ownPort)) return refuse(response, { status: 403, message: foreignMessage });
    const admitted = admit({ path: pathOf(request), authorization: request.headers.authorization });
    if ("status" in admitted) return refuse(response, admitted);
    const owner = owners.get(admitted.owner);
    if (method !== "POST") return face.takeOther(request, response, owner);
    if (!/^application\/json\b/i.test(request.headers["content-type"] ?? ""))
      return answerEmpty(response, 415, closing);
    if (declaresMore(request, limits.bodyBytes)) return answerEmpty(response, 413, closing);
    readBody(request, limits.bodyBytes, (text) => {
      if (text === undefined) return answerEmpty(response, 413, closing);
      guarded(response, () => face.takePost({ text, headers: request.headers }, response, owner, admitted.context));
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
  ownPort = await bind(server, options.port ?? 0);

  let callOff = time.after(times.keepAlive, sweep, { background: true });
  function sweep(): void {
    owners.sweep(time.now() - times.idle);
    callOff = time.after(times.keepAlive, sweep, { background: true });
  }

  return {
    url: `http://${loopback}:${ownPort}${path}`,
    async close() {
      callOff();
      owners.end();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The rest of the request's body is not read, so the connection cannot be reused. */
const closing = { connection: "close" } as const;

function refuse(
  response: ServerResponse,
  { status, message }: Extract<HttpAdmission<never>, { status: number }>,
): void {
  if (message === undefined) answerEmpty(response, status, closing);
  else answerJson(response, status, errorResponse(null, messageErrors.noSession, message), closing);
}

/** An exception in `take` fails only this request, with status 500. */
function guarded(response: ServerResponse, take: () => void): void {
  try {
    take();
  } catch {
    if (response.headersSent) response.destroy();
    else answerEmpty(response, 500, closing);
  }
}

async function bind(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const isUsed = cause.code === "EADDRINUSE";
      reject(isUsed ? new Error(`port ${port} is in use by another program`, { cause }) : cause);
    });
    server.listen(port, loopback, resolve);
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
export function namesListener({ headers }: IncomingMessage, port: number): boolean {
  const { host, origin } = headers;
  return isOwn(host, port) && (origin === undefined || (origin.startsWith("http://") && isOwn(origin.slice(7), port)));
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
