/** Listens for MCP clients over streamable HTTP on the loopback address, in both protocol eras. */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { modernErrors } from "../eras/modern-envelope.ts";
import { legacyVersions, modernVersions } from "../eras/versions.ts";
import type { OpenChannel, RequestId, RpcMessage } from "../rpc/channel.ts";
import type { Era } from "../session.ts";
import { isObject, parseJson, stringOf } from "../shapes/json.ts";
import { createHttpRequest, createHttpSession, type HttpSession } from "./http-session.ts";
import { errorResponse, messageErrors } from "./message-errors.ts";
import { eraOf, headerProblem, paramHeadersIn } from "./modern-headers.ts";
import { answerJson, createPostAnswer, type PostAnswer } from "./post-answer.ts";

/** Options of `listenHttp`. */
export interface HttpListenerOptions {
  /** The protocol eras that are served. */
  readonly eras: readonly Era[];
  /** Called for each session of the legacy era, and for each request of the modern era. */
  readonly onClient: (open: OpenChannel, era: Era) => void;
  /** The input schema of a tool, if it is known: modern requests repeat some arguments as headers. */
  readonly schemaOf?: (tool: string) => unknown;
  /** Default: any free port. */
  readonly port?: number;
  /** Default: `/mcp`. */
  readonly path?: string;
  /** The largest body of a POST, in bytes. Default: 4 MB. */
  readonly bodyBytes?: number;
  /** How many sessions may exist at the same time. Default: 64; the session that was idle longest makes room. */
  readonly sessions?: number;
}

/** A listening server. */
export interface HttpListener {
  readonly url: string;
  /** Ends all sessions and stops listening. */
  close(): Promise<void>;
}

const loopback = "127.0.0.1";
const sessionHeader = "mcp-session-id";

/** Begins to listen. @throws the system's error if the port is in use */
export async function listenHttp(options: HttpListenerOptions): Promise<HttpListener> {
  const { eras, onClient, schemaOf, path = "/mcp", bodyBytes = 4 * 1024 * 1024, sessions: mostSessions = 64 } = options;
  /** The session that was used last is the last one. */
  const sessions = new Map<string, HttpSession>();

  function createSession(): { readonly id: string; readonly session: HttpSession } {
    if (sessions.size >= mostSessions)
      for (const session of sessions.values())
        if (session.isIdle()) {
          session.end();
          break;
        }
    const id = randomUUID();
    const session = createHttpSession(() => void sessions.delete(id));
    sessions.set(id, session);
    onClient(session.open, "legacy");
    return { id, session };
  }

  function findSession(id: string): HttpSession | undefined {
    const session = sessions.get(id);
    if (session === undefined) return undefined;
    sessions.delete(id);
    sessions.set(id, session);
    return session;
  }

  async function takeModern({ message, size, headers }: Posted, response: ServerResponse): Promise<void> {
    const id = requestId(message);
    if (id === undefined) return answerEmpty(response, 202);
    const problem = headerProblem(message, headers, schemaOf);
    if (problem) return answerJson(response, 400, errorResponse(id, problem.code, problem.message, problem.data));
    // The handler may close the request before the answer exists.
    const answer: PostAnswer = createPostAnswer(response, {}, () => request.abandon());
    const request = createHttpRequest(message, size, answer, paramHeadersIn(headers));
    onClient(request.open, "modern");
  }

  async function takeLegacy({ message, size, headers }: Posted, response: ServerResponse): Promise<void> {
    const id = requestId(message);
    const version = stringOf(headers["mcp-protocol-version"]);
    const given = stringOf(headers[sessionHeader]);
    const isFirst = message["method"] === "initialize";
    const refuse = (status: number, code: number, words: string): void =>
      answerJson(response, status, errorResponse(id ?? null, code, words));
    if (!isFirst && given === undefined)
      return refuse(400, messageErrors.noSession, `the header ${sessionHeader} is missing: send initialize first`);
    if (!isFirst && version !== undefined && !legacyVersions.includes(version))
      return refuse(400, messageErrors.noSession, "the protocol version in the header is not supported");
    const found = isFirst ? createSession() : { id: given ?? "", session: findSession(given ?? "") };
    const { session } = found;
    if (session === undefined) return refuse(404, messageErrors.unknownSession, "the session is not known");
    if (id === undefined) {
      session.take(message, size);
      return answerEmpty(response, 202);
    }
    // A lost connection does not cancel the request in this era.
    session.take(
      message,
      size,
      createPostAnswer(response, { [sessionHeader]: found.id }, () => {}),
    );
  }

  async function takePost(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers } = request;
    if (!/^application\/json\b/i.test(headers["content-type"] ?? "")) return answerEmpty(response, 415);
    const body = await readBody(request, bodyBytes);
    if (body === undefined) return answerEmpty(response, 413, { connection: "close" });
    const message = parseJson(body);
    if (message === undefined)
      return answerJson(response, 400, errorResponse(null, messageErrors.parse, "the body is not JSON"));
    if (!isObject(message))
      return answerJson(
        response,
        400,
        errorResponse(null, messageErrors.invalidRequest, "the body is not one message"),
      );
    const era = eraOf(message, headers);
    if (!eras.includes(era)) return refuseEra(message, response);
    const posted = { message, size: body.length, headers };
    return era === "modern" ? takeModern(posted, response) : takeLegacy(posted, response);
  }

  /** A modern client goes on with `initialize`; a legacy client learns which versions are served. */
  function refuseEra(message: RpcMessage, response: ServerResponse): void {
    const id = requestId(message) ?? null;
    const isModern = eras.includes("modern");
    const [code, supported] = isModern
      ? [modernErrors.unsupportedVersion, modernVersions]
      : [messageErrors.noSession, legacyVersions];
    const words = `this server supports the protocol versions ${supported.join(", ")}`;
    answerJson(response, 400, errorResponse(id, code, words, { supported }));
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isLocal(request)) return answerEmpty(response, 403);
    if (new URL(request.url ?? "/", `http://${loopback}`).pathname !== path) return answerEmpty(response, 404);
    if (request.method === "POST") return takePost(request, response);
    const id = stringOf(request.headers[sessionHeader]);
    if (id === undefined || (request.method !== "GET" && request.method !== "DELETE"))
      return answerEmpty(response, 405, { allow: "POST" });
    const session = findSession(id);
    if (session === undefined) return answerEmpty(response, 404);
    if (request.method === "DELETE") {
      session.end();
      return answerEmpty(response, 200);
    }
    if (!session.listen(response, { [sessionHeader]: id })) answerEmpty(response, 409);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else answerEmpty(response, 500);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port ?? 0, loopback, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${loopback}:${port}${path}`,
    async close() {
      for (const session of sessions.values()) session.end();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A message with the headers of its POST. */
interface Posted extends Pick<IncomingMessage, "headers"> {
  readonly message: RpcMessage;
  readonly size: number;
}

function requestId({ id, method }: RpcMessage): RequestId | undefined {
  return typeof method === "string" && (typeof id === "string" || typeof id === "number") ? id : undefined;
}

/** Protects against web pages that make the browser send requests to the loopback address (DNS rebinding). */
function isLocal({ headers }: IncomingMessage): boolean {
  const isLoopback = (host: string): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(host);
  const { origin } = headers;
  return isLoopback(headers.host ?? "") && (origin === undefined || isLoopback(origin.replace(/^https?:\/\//i, "")));
}

function answerEmpty(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { ...headers, "content-length": 0 }).end();
}

/** The body as text; undefined if it is larger than the limit. */
function readBody(request: IncomingMessage, limit: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        chunks.length = 0;
        request.removeAllListeners("data").pause();
        return resolve(undefined);
      }
      chunks.push(chunk);
    });
    request.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    request.on("error", reject);
  });
}
