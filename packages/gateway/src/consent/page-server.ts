/** Serves the pages on which a person answers confirmations. Listens only on 127.0.0.1. */

import { hash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@fairlead/core/clock";
import { createUnusedConnections } from "@fairlead/wire/serve";
import type { ConsentAnswer, ConsentQuestion } from "./confirmed-request.ts";
import { emptyPage, messagePage, pageHeaders, questionPage } from "./consent-page.ts";
import { questionTime } from "./inbox-folder.ts";

/** A confirmation, and what to do with the person's answer. */
export interface PageQuestion {
  readonly question: ConsentQuestion;
  /** Identifies the client's connection, as `GatewayClient.conversation` does. */
  readonly conversation: string;
  /** Whether a request still waits for the answer. */
  readonly isAwaited: () => boolean;
  /** Stores the answer. Returns the sentence that the person then reads. */
  readonly answer: (answer: ConsentAnswer) => Promise<string>;
}

export interface OpenPage {
  /**
   * The page's address. It shows the question once: the first window that opens it exchanges the code in the fragment
   * for a session, and only this window can see and answer the question.
   */
  readonly url: string;
  /** Whether a window has got the question. */
  readonly isVisited: () => boolean;
  /** Removes the page. */
  readonly close: () => void;
}

const loopback = "127.0.0.1";
const bodyBytes = 1024;
const requestTime = 10_000;
/**
 * Maximum number of connections without a complete request. One more closes the oldest of them: any user of this machine
 * can open connections, and must not keep a person from the page.
 */
const mostUnused = 64;
/** Maximum number of pages for which requests of one connection of a client wait. */
const mostAwaited = 32;
/** Maximum number of pages for which no request waits. One more closes the oldest of them. */
const mostLeft = 64;

interface Page extends PageQuestion {
  readonly callOff: () => void;
  /** Digests of the secrets. The time of a comparison then tells nothing about the secret itself. */
  readonly code: string;
  /** Undefined until a window has exchanged the code. */
  session: string | undefined;
}

/**
 * Serves one page for each open confirmation. Starts listening when the first page is opened. Dispose it to stop.
 */
export class PageServer implements AsyncDisposable {
  readonly #pages = new Map<string, Page>();
  readonly #clock: Pick<Clock, "after">;
  #listening: Promise<Server> | undefined;

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /**
   * Creates a page.
   * @throws Error if requests of the same connection wait for too many pages
   */
  async open(shown: PageQuestion): Promise<OpenPage> {
    this.#listening ??= this.#listen();
    const server = await this.#listening.catch((error: unknown) => {
      this.#listening = undefined;
      throw error;
    });
    this.#makeRoom(shown.conversation);
    const id = randomBytes(16).toString("base64url");
    const code = newSecret();
    const callOff = this.#clock.after(questionTime, () => this.#end(id), { background: true });
    const page: Page = { ...shown, callOff, code: digestOf(code), session: undefined };
    this.#pages.set(id, page);
    const { port } = server.address() as AddressInfo;
    return {
      url: `http://${loopback}:${port}/approve/${id}#${code}`,
      isVisited: () => page.session !== undefined,
      close: () => this.#end(id),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const id of this.#pages.keys()) this.#end(id);
    const server = await this.#listening?.catch(() => undefined);
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  #end(id: string): void {
    this.#pages.get(id)?.callOff();
    this.#pages.delete(id);
  }

  #makeRoom(conversation: string): void {
    const awaited = [...this.#pages.values()].filter((page) => page.conversation === conversation && page.isAwaited());
    if (awaited.length >= mostAwaited) throw new Error(`${mostAwaited} pages of this client are already open`);
    const left = [...this.#pages].filter(([, page]) => !page.isAwaited());
    for (const [id] of left.slice(0, -mostLeft)) this.#end(id);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const { port = 0 } = request.socket.address() as Partial<AddressInfo>;
    const isOwn = (host: string): boolean => host === `${loopback}:${port}` || host === `localhost:${port}`;
    const { host = "", origin, authorization = "" } = request.headers;
    const site = request.headers["sec-fetch-site"];
    // A web page of another site sent this request.
    if (!isOwn(host) || (origin !== undefined && !isOwn(origin.replace(/^http:\/\//, ""))))
      return send(response, 403, messagePage("Refused", "This request was not sent by the confirmation page."));
    const [, id = "", step] = /^\/approve\/([\w-]{22})(?:\/(visit|question|answer))?$/.exec(request.url ?? "") ?? [];
    const page = this.#pages.get(id);
    if (page === undefined) return send(response, 404, messagePage("Not found", goneText));
    if (step === undefined && request.method === "GET") return send(response, 200, emptyPage());
    if (step === undefined || request.method !== "POST" || (site !== undefined && site !== "same-origin"))
      return send(response, 405, messagePage("Refused", "Use the buttons on the confirmation page to answer."));
    const secret = digestOf(/^Bearer ([\w-]{43})$/.exec(authorization)?.[1] ?? "");
    if (step === "visit") {
      if (page.session !== undefined) return send(response, 401, messagePage("Open in another window", elsewhereText));
      if (secret !== page.code) return send(response, 401, messagePage("Address incomplete", incompleteText));
      const session = newSecret();
      page.session = digestOf(session);
      return send(response, 200, session);
    }
    if (secret !== page.session) return send(response, 401, messagePage("Open in another window", elsewhereText));
    if (step === "question") return send(response, 200, questionPage(page.question));
    const answer = page.question.answers.find((each) => each === body);
    if (answer === undefined)
      return send(response, 400, messagePage("Refused", "Use the buttons on the confirmation page to answer."));
    // Removes the page first, so that only one answer is possible.
    this.#end(id);
    return send(response, 200, messagePage("Answered", await page.answer(answer)));
  }

  #listen(): Promise<Server> {
    const unused = createUnusedConnections({ most: mostUnused });
    const server = createServer(
      { maxHeaderSize: 16 * 1024, requestTimeout: requestTime, headersTimeout: requestTime },
      (request, response) => {
        request.once("end", () => unused.remove(request.socket));
        this.#handle(request, response).catch(() => {
          if (response.headersSent) response.destroy();
          else send(response, 500, messagePage("Failed", "The answer could not be stored. Nothing was run."));
        });
      },
    );
    server.on("connection", (socket) => {
      unused.add(socket);
      socket.once("close", () => unused.remove(socket));
    });
    // An open page must not keep the process alive.
    server.unref();
    return new Promise((resolve, reject) => {
      server.once("error", reject).listen({ host: loopback, port: 0, exclusive: true }, () => resolve(server));
    });
  }
}

const goneText =
  "This question is not open here any more: it was answered, or the program no longer asks it on this page. To list the questions that still wait, run: fairlead approvals";
const incompleteText = "To see the question, open the whole address, including the part after the #.";
const elsewhereText =
  "This question was already opened, and only the window that opened it first shows it and takes the answer. If you did not open it, another program has opened its address: run fairlead approvals in a terminal, and deny the request.";

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { ...pageHeaders, connection: "close", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

function digestOf(secret: string): string {
  return hash("sha256", secret);
}

/** Reads the body. Limits its size, because an answer is short. */
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyBytes) throw new Error("the body is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
