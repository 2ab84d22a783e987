/** Listens on 127.0.0.1 for the pages of consoles and of single questions, and checks every request. */

import { randomBytes } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { parseObject, stringOf } from "@fairlead/wire/json";
import { createUnusedConnections } from "@fairlead/wire/serve";
import { errorMessage } from "@fairlead/wire/text";
import type { CommandFailure, Verb } from "../../protocol/commands.ts";
import type { PagePath, SessionAnswer } from "../../protocol/http.ts";
import type { ConsoleSource, RunOptions } from "../console-source.ts";
import type { ViewFrames } from "../views/view-frames.ts";
import { AnsweredCommands, type CommandAnswer } from "./answered-commands.ts";
import { iconPath, loopback, type Refusal, refusalOf } from "./checks.ts";
import type { EventRing } from "./event-ring.ts";
import { streamEvents } from "./event-stream.ts";
import { answerHeaders, assetCaching, pageHeaders, refusalHeaders } from "./headers.ts";
import { encoded, type PageFile, type PageFiles } from "./page-files.ts";
import { type Session, Sessions } from "./sessions.ts";

/** What a page shows: a whole host, or one question. */
export interface PageSubject {
  readonly kind: SessionAnswer["kind"];
  readonly path: PagePath;
  readonly source: Pick<ConsoleSource, "snapshot" | "run">;
  readonly ring: EventRing;
}

/** A page that can be opened. */
export interface OpenPage {
  /**
   * Returns a new address of the page. The first window that opens it gets a session.
   *
   * @param time The milliseconds within which the address can be opened.
   */
  newAddress(time: number): string;
  /** Whether a window has opened one of its addresses. */
  isVisited(): boolean;
  /** Makes its addresses and sessions invalid, and tells its windows. */
  close(): void;
}

export interface PageListenerOptions {
  readonly files: PageFiles;
  readonly clock: Pick<Clock, "after">;
  /** The port to listen on; 0: any free port. */
  readonly port: number;
  /** The pages of views (MCP Apps). Absent: the page shows none. */
  readonly frames?: ViewFrames;
  /** Whether the listener lets the process end. Default: false. */
  readonly isBackground?: boolean;
}

const bodyBytes = 8 * 1024 * 1024;
/** A code and a path. Any program can send it. */
const exchangeBytes = 4096;
const receiveTime = 30_000;
/** One more open connection without a request closes the oldest: any program of this machine can open connections. */
const mostUnused = 64;
const mostStreams = 64;
/** Milliseconds within which open pages must take the news that the console closes. */
const closingTime = 500;

/** One listening port with its sessions. Close it to end all of them. */
export class PageListener {
  readonly #files: PageFiles;
  readonly #frames: ViewFrames | undefined;
  readonly #clock: Pick<Clock, "after">;
  readonly #server: Server;
  readonly #sessions: Sessions<PageSubject>;
  readonly #commands = new WeakMap<Session<PageSubject>, AnsweredCommands>();
  readonly #subjects = new Map<string, PageSubject>();
  /** The names by which the tabs of one subject find each other. */
  readonly #channels = new WeakMap<PageSubject, string>();
  readonly #visited = new WeakSet<PageSubject>();
  readonly #streams = new Set<Promise<void>>();
  #port = 0;

  /** @throws Error if the port is in use */
  static async listen({
    files,
    clock,
    port,
    frames,
    isBackground = false,
  }: PageListenerOptions): Promise<PageListener> {
    const listener = new PageListener(files, clock, frames);
    listener.#port = await bind(listener.#server, port);
    frames?.showIn(`http://${loopback}:${listener.#port}`);
    if (isBackground) listener.#server.unref();
    return listener;
  }

  private constructor(files: PageFiles, clock: Pick<Clock, "after">, frames: ViewFrames | undefined) {
    this.#files = files;
    this.#frames = frames;
    this.#clock = clock;
    this.#sessions = new Sessions(clock);
    const unused = createUnusedConnections({ most: mostUnused });
    this.#server = createServer(
      { maxHeaderSize: 16 * 1024, requestTimeout: receiveTime, headersTimeout: receiveTime, keepAliveTimeout: 30_000 },
      (request, response) => {
        const { socket } = request;
        // A request whose body never comes does not use its connection.
        request.once("end", () => unused.remove(socket));
        response.once("close", () => unused.add(socket));
        this.#handle(request, response).catch(() => {
          if (response.headersSent) response.destroy();
          else fail(response, 500, { code: "internal", message: "the request failed" });
        });
      },
    );
    this.#server.on("connection", (socket) => {
      unused.add(socket);
      socket.once("close", () => unused.remove(socket));
    });
  }

  get port(): number {
    return this.#port;
  }

  /** Opens a page. No other open page has its path. */
  open(subject: PageSubject): OpenPage {
    this.#subjects.set(subject.path, subject);
    this.#channels.set(subject, randomBytes(16).toString("base64url"));
    return {
      newAddress: (time) =>
        `http://${loopback}:${this.#port}${subject.path}#k=${this.#sessions.newCode(subject, time)}`,
      isVisited: () => this.#visited.has(subject),
      close: () => {
        if (this.#subjects.get(subject.path) === subject) this.#subjects.delete(subject.path);
        this.#sessions.end(subject);
      },
    };
  }

  /** Makes all bearers invalid, tells the open pages and stops listening. */
  async close(): Promise<void> {
    const subjects = [...this.#subjects.values()];
    this.#subjects.clear();
    for (const subject of subjects) this.#sessions.end(subject);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    let callOff = (): void => {};
    const late = new Promise<void>((resolve) => {
      callOff = this.#clock.after(closingTime, resolve);
    });
    await Promise.race([late, Promise.all(this.#streams)]);
    callOff();
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "" } = request;
    const path = pathOf(request);
    const refusal = refusalOf({ method, path, headers: request.headers }, this.#port);
    const isApi = path.startsWith("/api/");
    if (refusal !== undefined && !isApi) return refuse(response, refusal);
    if (refusal !== undefined) return fail(response, refusal.status, { code: "denied", message: refusal.message });
    if (isApi) return this.#answer(request, response, path.slice("/api/".length));
    // Its end tells that the connection is in use.
    request.resume();
    const asset = this.#files.assets.get(path);
    const headers = pageHeaders(this.#frames?.origin);
    if (asset !== undefined) return sendFile(request, response, asset, { ...headers, ...assetCaching });
    if (path === iconPath) return sendFile(request, response, this.#files.icon, headers);
    if (path === "/" || /^\/question\/[\w-]{1,64}$/.test(path))
      return sendFile(request, response, this.#files.document, headers);
    return refuse(response, { status: 404, message: "there is nothing at this address" });
  }

  async #answer(request: IncomingMessage, response: ServerResponse, name: string): Promise<void> {
    const isPost = request.method === "POST";
    if (name === "session" && isPost) return this.#openSession(request, response);
    const session = this.#sessions.find(request.headers.authorization);
    if (session === undefined) return fail(response, 401, noSession);
    if (isPost) return this.#run(request, response, name, session);
    request.resume();
    if (name === "events" || name === "catch-up") return this.#stream(request, response, session, name === "catch-up");
    return fail(response, 404, { code: "not_found", message: "there is nothing at this address" });
  }

  async #openSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, exchangeBytes);
    if (body === undefined) return fail(response, 413, { code: "too_large", message: "the body is too large" });
    const given = parseObject(body) ?? {};
    const path = stringOf(given["path"]) ?? "";
    const subject = this.#subjects.get(path);
    if (subject === undefined) return fail(response, 404, { code: "not_found", message: goneText, next: approvals });
    const bearer = this.#sessions.exchange(stringOf(given["code"]) ?? "", subject);
    if (bearer === undefined) return fail(response, 401, this.#wrongCode(subject));
    this.#visited.add(subject);
    const answer: SessionAnswer = { bearer, kind: subject.kind, channel: this.#channels.get(subject) ?? "" };
    return sendAnswer(response, 200, Buffer.from(JSON.stringify(answer)));
  }

  #wrongCode(subject: PageSubject): CommandFailure["error"] {
    if (subject.kind === "console") return { code: "auth_failed", message: usedText, next: "fairlead console" };
    const message = this.#visited.has(subject) ? elsewhereText : incompleteText;
    return { code: "auth_failed", message, next: approvals };
  }

  async #stream(
    request: IncomingMessage,
    response: ServerResponse,
    session: Session<PageSubject>,
    isCatchUp: boolean,
  ): Promise<void> {
    if (this.#streams.size >= mostStreams)
      return fail(response, 503, { code: "busy", message: `${mostStreams} pages of this console are already open` });
    const given = request.headers["last-event-id"];
    const after = typeof given === "string" && /^\d{1,15}$/.test(given) ? Number(given) : undefined;
    response.writeHead(200, { ...answerHeaders, "content-type": "text/event-stream; charset=utf-8" });
    response.flushHeaders();
    const { subject, signal } = session;
    const { source, ring, path } = subject;
    // A session can also end because its person has opened many more.
    const isClosed = (): boolean => this.#subjects.get(path) !== subject;
    const streaming = streamEvents(response, { source, ring, after, clock: this.#clock, signal, isClosed, isCatchUp });
    const ended = streaming.catch(() => void response.destroy()).finally(() => this.#streams.delete(ended));
    this.#streams.add(ended);
    await ended;
  }

  async #run(
    request: IncomingMessage,
    response: ServerResponse,
    verb: string,
    session: Session<PageSubject>,
  ): Promise<void> {
    const key = request.headers["idempotency-key"];
    if (typeof key !== "string" || !/^[\w-]{1,100}$/.test(key))
      return fail(response, 400, { code: "usage", message: "the header idempotency-key is missing" });
    const body = await readBody(request, bodyBytes);
    if (body === undefined) return fail(response, 413, { code: "too_large", message: "the body is too large" });
    const params = parseObject(body);
    if (params === undefined) return fail(response, 400, { code: "usage", message: "the body must be a JSON object" });
    const { subject, signal } = session;
    const commands = this.#commands.get(session) ?? new AnsweredCommands();
    this.#commands.set(session, commands);
    const options = { signal, frames: this.#frames };
    const answer = await commands.run(key, verb, body, () => runCommand(subject, verb, params, options));
    if (answer === undefined)
      return fail(response, 409, { code: "usage", message: "this key was used before, and its answer is not kept" });
    sendAnswer(response, answer.status, answer.body, { "event-id": answer.lastEvent });
  }
}

/** Runs a command. A failure is an answer, too. */
async function runCommand(
  { source, ring }: PageSubject,
  verb: string,
  params: object,
  options: RunOptions,
): Promise<CommandAnswer> {
  const answer = (status: number, value: unknown): CommandAnswer => ({
    status,
    body: Buffer.from(JSON.stringify(value)),
    lastEvent: ring.last,
  });
  try {
    // The source checks the verb and its parameters.
    return answer(200, await source.run(verb as Verb, params as never, options));
  } catch (error) {
    const failure = failureOf(error);
    return answer(failure.code === "usage" || failure.code === "arguments_invalid" ? 400 : 422, { error: failure });
  }
}

function failureOf(error: unknown): CommandFailure["error"] {
  if (!(error instanceof HostError)) return { code: "internal", message: errorMessage(error) };
  const { code, message, next } = error;
  return { code, message, next };
}

const noSession: CommandFailure["error"] = {
  code: "auth_required",
  message: "this page has no session: the console was closed, or it was opened in another window",
  next: "fairlead console",
};

const approvals = "fairlead approvals";
const usedText = "this address was used before, or is older than a minute";
const goneText =
  "This question is not open here any more: it was answered, or the program no longer asks it on this page. To list the questions that still wait, run: fairlead approvals";
const incompleteText = "To see the question, open the whole address, including the part after the #.";
const elsewhereText =
  "This question was already opened, and only the window that opened it first shows it and takes the answer. If you did not open it, another program has opened its address: run fairlead approvals in a terminal, and deny the request.";

function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: PageFile,
  headers: OutgoingHttpHeaders,
): void {
  const { encoding, body } = encoded(file, String(request.headers["accept-encoding"] ?? ""));
  response.writeHead(200, {
    ...headers,
    "content-type": file.type,
    "content-length": body.length,
    vary: "accept-encoding",
    ...(encoding && { "content-encoding": encoding }),
  });
  response.end(body);
}

function refuse(response: ServerResponse, { status, message }: Refusal): void {
  response.writeHead(status, { ...refusalHeaders, connection: "close" }).end(`${message}\n`);
}

/** The rest of the request may not have been read, so its connection is not used again. */
function fail(response: ServerResponse, status: number, error: CommandFailure["error"]): void {
  sendAnswer(response, status, Buffer.from(JSON.stringify({ error })), { connection: "close" });
}

function sendAnswer(response: ServerResponse, status: number, body: Buffer, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { ...answerHeaders, "content-length": body.length, ...headers });
  response.end(body);
}

/** Returns the body; undefined if it has more bytes than `most`. */
async function readBody(request: IncomingMessage, most: number): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > most) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}

function pathOf({ url = "/" }: IncomingMessage): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

async function bind(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const isUsed = cause.code === "EADDRINUSE";
      reject(isUsed ? new Error(`port ${port} is in use by another program`, { cause }) : cause);
    });
    server.listen({ host: loopback, port, exclusive: true }, resolve);
  });
  // A connection that cannot be accepted, for example because no file descriptor is free, is the client's loss only.
  server.removeAllListeners("error").on("error", () => {});
  return (server.address() as AddressInfo).port;
}
