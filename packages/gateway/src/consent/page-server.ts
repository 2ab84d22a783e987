/** Serves the pages on which a person answers confirmations. Listens only on 127.0.0.1. */

import { hash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@fairlead/core/clock";
import type { ConsentAnswer, ConsentQuestion } from "./confirmed-request.ts";
import { messagePage, pageHeaders, questionPage } from "./consent-page.ts";
import { questionTime } from "./inbox-folder.ts";

/** A confirmation, and what to do with the person's answer. */
export interface PageQuestion {
  readonly question: ConsentQuestion;
  /** Stores the answer. Returns the sentence that the person then reads. */
  readonly answer: (answer: ConsentAnswer) => Promise<string>;
}

/** Serves one page for each open confirmation. Dispose it to stop listening. */
export interface PageServer extends AsyncDisposable {
  /** Creates a page. Its URL contains a random part that other programs cannot guess. `close` removes the page. */
  open(shown: PageQuestion): Promise<{ readonly url: string; readonly close: () => void }>;
}

const loopback = "127.0.0.1";
const bodyBytes = 1024;
const requestTime = 10_000;
const mostConnections = 64;
/** Maximum number of open pages. One more closes the oldest page. */
const mostPages = 64;

/** Creates the server. It starts listening when the first page is opened. */
export function createPageServer(clock: Pick<Clock, "after">): PageServer {
  /**
   * The key is a digest of the URL's random part. The time of a lookup then tells nothing about the random part itself.
   */
  const pages = new Map<string, PageQuestion>();
  const timers = new Map<string, () => void>();
  let listening: Promise<Server> | undefined;

  function end(key: string): void {
    timers.get(key)?.();
    timers.delete(key);
    pages.delete(key);
  }

  function send(response: ServerResponse, status: number, body: string): void {
    response.writeHead(status, { ...pageHeaders, connection: "close", "content-length": Buffer.byteLength(body) });
    response.end(body);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { port = 0 } = request.socket.address() as Partial<AddressInfo>;
    const isOwn = (host: string): boolean => host === `${loopback}:${port}` || host === `localhost:${port}`;
    const { host = "", origin } = request.headers;
    const site = request.headers["sec-fetch-site"];
    // A web page of another site sent this request.
    if (!isOwn(host) || (origin !== undefined && !isOwn(origin.replace(/^http:\/\//, ""))))
      return send(response, 403, messagePage("Refused", "This request was not sent by the confirmation page."));
    const [, nonce] = /^\/approve\/([\w-]{43})\??$/.exec(request.url ?? "") ?? [];
    const key = hash("sha256", nonce ?? "");
    const shown = pages.get(key);
    if (shown === undefined)
      return send(response, 404, messagePage("Not found", "This question does not exist, or it was already answered."));
    if (request.method === "GET") return send(response, 200, questionPage(shown.question));
    if (request.method !== "POST" || (site !== undefined && site !== "same-origin"))
      return send(response, 405, messagePage("Refused", "Use the buttons on the confirmation page to answer."));
    const decision = new URLSearchParams(await readBody(request)).get("decision");
    const answer = shown.question.answers.find((each) => each === decision);
    if (answer === undefined)
      return send(response, 400, messagePage("Refused", "Use the buttons on the confirmation page to answer."));
    // Removes the page first, so that only one answer is possible.
    end(key);
    return send(response, 200, messagePage("Answered", await shown.answer(answer)));
  }

  function listen(): Promise<Server> {
    const server = createServer(
      { maxHeaderSize: 16 * 1024, requestTimeout: requestTime, headersTimeout: requestTime },
      (request, response) => {
        handle(request, response).catch(() => {
          if (response.headersSent) response.destroy();
          else send(response, 500, messagePage("Failed", "The answer could not be stored. Nothing was run."));
        });
      },
    );
    server.maxConnections = mostConnections;
    // An open page must not keep the process alive.
    server.unref();
    return new Promise((resolve, reject) => {
      server.once("error", reject).listen({ host: loopback, port: 0, exclusive: true }, () => resolve(server));
    });
  }

  return {
    async open(shown) {
      listening ??= listen();
      const server = await listening.catch((error: unknown) => {
        listening = undefined;
        throw error;
      });
      const nonce = randomBytes(32).toString("base64url");
      const key = hash("sha256", nonce);
      pages.set(key, shown);
      const [oldest] = pages.keys();
      if (oldest !== undefined && pages.size > mostPages) end(oldest);
      timers.set(
        key,
        clock.after(questionTime, () => end(key), { background: true }),
      );
      const { port } = server.address() as AddressInfo;
      return { url: `http://${loopback}:${port}/approve/${nonce}`, close: () => end(key) };
    },
    async [Symbol.asyncDispose]() {
      for (const key of pages.keys()) end(key);
      const server = await listening?.catch(() => undefined);
      if (server === undefined) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Reads the body. Limits its size, because an answer is short. */
async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > bodyBytes) throw new Error("the body is too large");
  }
  return text;
}
